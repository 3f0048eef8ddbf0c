"""The responses and reports of the message receivers conform to the facts of the providers' APIs."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import pytest

from sandbox.sinks.push import FAULTS, OAUTH_ERRORS
from sandbox.sinks.sms_faults import SMS_FAULTS
from testkit.fixtures import eventually
from testkit.providers.alertmanager import alerts as alertmanager
from testkit.providers.fcm import messages as fcm
from testkit.providers.schemas import conform
from testkit.providers.sms import africas_talking, termii, twilio

from .conftest import Receiver, Sandbox

TERMII = {
    "to": "2348012345678",
    "from": "Campus",
    "sms": "Your PIN is 482913",
    "type": "plain",
    "channel": "dnd",
    "api_key": "k",
}
AFRICAS_TALKING = {"username": "campus", "to": "+2348012345678", "message": "Your code is 1234", "from": "Campus"}
TWILIO = {
    "To": "+2348012345678",
    "From": "Campus",
    "Body": "Your code is 1234",
    "StatusCallback": "https://campus.example/functions/v1/sms-receipts/twilio",
}
REPORTS = {"termii": termii.REPORT, "africas-talking": africas_talking.REPORT, "twilio": twilio.CALLBACK}
TOKEN = "the auth token of a test account"
ACCOUNT = "AC0123456789abcdef0123456789abcdef"
FCM_PATH = "/v1/projects/campus/messages:send"
PUSH = {"message": {"token": "t", "notification": {"title": "a", "body": "b"}, "android": {"ttl": "60s"}}}


async def post(sandbox: Sandbox, api, path, body, prefix="/sms", **options):
    """One call, checked in both directions. Returns the response."""
    api.check_request("POST", path, body)
    kind = "data" if "headers" in options or "auth" in options else "json"
    response = await sandbox.client.post(prefix + path, **{kind: body}, **options)
    api.check_response("POST", path, response.status_code, response.json())
    return response


async def send_all(sandbox: Sandbox):
    """Return the same message by the three companies."""
    key = {"headers": {"apiKey": "k"}}
    login = {"auth": (ACCOUNT, TOKEN)}
    return [
        await post(sandbox, termii.API, "/api/sms/send", TERMII),
        await post(sandbox, africas_talking.API, "/version1/messaging", AFRICAS_TALKING, **key),
        await post(sandbox, twilio.API, f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json", TWILIO, **login),
    ]


async def test_text_messages_conform(sandbox: Sandbox) -> None:
    assert [response.status_code for response in await send_all(sandbox)] == [200, 201, 201]


@pytest.mark.parametrize("fault", [*SMS_FAULTS, "30034", "Anything else"])
async def test_rejected_text_messages_conform(sandbox: Sandbox, fault) -> None:
    await sandbox.fault(sms={"fail": fault})
    _, second, third = await send_all(sandbox)
    assert second.json()["SMSMessageData"]["Recipients"][0]["messageId"] == "None"
    assert third.status_code >= 400
    assert await sandbox.messages() == []


async def test_a_wrong_login_at_twilio_conforms(sandbox: Sandbox) -> None:
    path = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"
    response = await post(sandbox, twilio.API, path, TWILIO, auth=("AC1", "token"))
    assert (response.status_code, response.json()["code"]) == (401, 20003)


async def test_reports_of_text_messages_conform(
    environment: dict[str, str], running_sandbox: Callable[..., Any], receiver: Receiver
) -> None:
    reporting = {**environment, "SMS_RECEIPT_URL": f"{receiver.address}/receipts", "SMS_RECEIPT_KEY": "receipt-key"}
    async with running_sandbox(reporting) as sandbox:
        await sandbox.settings_are(sms_receipt_delay_seconds=0.01)
        await send_all(sandbox)
        await eventually(lambda: len(receiver.receipts) == 6)
        await sandbox.fault(sms_receipt={"fail": "30005"})
        await send_all(sandbox)
        await eventually(lambda: len(receiver.receipts) == 9)
    for path, raw in receiver.receipts:
        company = path.rpartition("/")[2]
        report = json.loads(raw) if company == "termii" else dict(parse_qsl(raw.decode()))
        conform(report, REPORTS[company], company)


@pytest.mark.parametrize("fault", [None, *FAULTS])
async def test_pushes_conform(sandbox: Sandbox, fault) -> None:
    if fault is not None:
        await sandbox.fault(push={"fail": fault})
    response = await sandbox.client.post(f"/push{FCM_PATH}", json=PUSH, headers={"Authorization": "Bearer t"})
    fcm.API.check_request("POST", FCM_PATH, PUSH)
    fcm.API.check_response("POST", FCM_PATH, response.status_code, response.json())
    assert response.is_success is (fault is None)
    assert ("retry-after" in response.headers) is (response.status_code in (429, 503))


@pytest.mark.parametrize("fault", [None, *OAUTH_ERRORS])
async def test_access_tokens_conform(sandbox: Sandbox, fault) -> None:
    if fault is not None:
        await sandbox.fault(push_token={"fail": fault})
    response = await sandbox.client.post("/push/oauth/token", data={"grant_type": "x", "assertion": "y"})
    conform(response.json(), fcm.TOKEN if fault is None else fcm.TOKEN_FAULT, "token")
    assert response.status_code == (200 if fault is None else 400)


async def test_alerts_conform(sandbox: Sandbox) -> None:
    alert = {"labels": {"alertname": "Order late", "severity": "SEV-2"}, "startsAt": "2026-01-01T00:00:00.000Z"}
    alertmanager.API.check_request("POST", "/api/v2/alerts", [alert])
    posted = await sandbox.client.post("/on-call/api/v2/alerts", json=[alert])
    assert (posted.status_code, posted.content) == (200, b"")
    await sandbox.fault(on_call={"fail": "bad request"})
    for body in ([alert], {"labels": {}}):
        refused = await sandbox.client.post("/on-call/api/v2/alerts", json=body)
        alertmanager.API.check_response("POST", "/api/v2/alerts", refused.status_code, refused.json())
