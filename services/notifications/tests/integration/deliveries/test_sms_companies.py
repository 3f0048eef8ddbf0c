"""SMS companies: routes by kind, failover without a second copy, one alert for an account fault, Twilio's receipts."""

import base64
import hashlib
import hmac
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.responses import JSONResponse, Response

from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from notifications.deliveries.consumers.encrypted_events import CODE_DELIVERY
from notifications.deliveries.domain.deliveries import ATTEMPTS_MAX

from ..conftest import KEYS, PHONE, OpenScenario, Scenario
from ..providers import Providers
from ..steps import code_issued

RECEIPTS = "/functions/v1/sms-receipts/twilio"


def insufficient_balance():
    return JSONResponse({"code": 400, "message": "Insufficient balance", "status": "error"}, 400)


async def send_pin(scenario: Scenario, issue: int = 1):
    await scenario.receive(scenario.pin(issue=issue))
    await scenario.send_queued()


async def send_ordinary(scenario: Scenario):
    response = await scenario.request_delivery("sms", "order_dispatched")
    assert response.status_code == 200, response.text
    await scenario.send_queued()


@pytest.mark.parametrize(
    ("settings", "channels"),
    [({}, ["dnd", "generic"]), ({"sms_secret_route": "generic", "sms_route": "dnd"}, ["generic", "dnd"])],
)
async def test_codes_and_pins_have_a_route_of_their_own(
    open_scenario: OpenScenario, providers: Providers, settings: dict[str, Any], channels
) -> None:
    async with open_scenario(**settings) as scenario:
        await scenario.project_users()
        await send_pin(scenario)
        await send_ordinary(scenario)
        assert [text["channel"] for text in providers.texts] == channels


async def test_an_account_fault_fails_over_at_once_and_alerts_once(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(sms_fallback_api_url=f"{providers.url}/second", provider_rest_seconds=30) as scenario:
        await scenario.project_users()
        providers.sms_faults += [insufficient_balance(), insufficient_balance()]
        await send_ordinary(scenario)
        # The second message does not wait for the first company.
        await send_ordinary(scenario)
        assert (len(providers.forms), len(providers.sms_faults)) == (2, 1)
        scenario.clock.advance(timedelta(seconds=31))
        await send_ordinary(scenario)
        assert (len(providers.forms), len(providers.sms_faults)) == (3, 0)
        assert await scenario.delivery_statuses() == ["sent"] * 3
        [alert] = await scenario.published("operations.alert_raised.v1")
        assert (alert["dedupKey"], alert["runbook"]) == ("provider-account:sms-http", "provider-account-fault")
        assert "Insufficient balance" in alert["detail"]


async def test_the_alert_about_an_account_closes_when_messages_are_accepted(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(provider_rest_seconds=30) as scenario:
        await scenario.project_users()
        providers.sms_faults.append(insufficient_balance())
        await send_pin(scenario)
        [raised] = await scenario.published("operations.alert_raised.v1")
        await scenario.receive(
            AlertRaised(
                alert_id=new_id(),
                severity=raised["severity"],
                title=raised["title"],
                detail=raised["detail"],
                runbook=raised["runbook"],
                dedup_key=raised["dedupKey"],
            )
        )
        # The message waits without another attempt until the company is tried again.
        await send_pin(scenario, issue=2)
        assert providers.texts == []
        scenario.clock.advance(timedelta(seconds=31))
        await scenario.send_queued()
        assert len(providers.texts) == 1
        [cleared] = await scenario.published("operations.alert_cleared.v1")
        assert cleared["dedupKey"] == "provider-account:sms-http"


async def test_a_message_waits_for_the_account_without_a_limit(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(provider_rest_seconds=30) as scenario:
        await scenario.project_users()
        probes = ATTEMPTS_MAX + 2
        providers.sms_faults += [insufficient_balance() for _ in range(probes)]
        await send_pin(scenario)
        for _ in range(probes - 1):
            scenario.clock.advance(timedelta(seconds=31))
            assert await scenario.send_queued() == 1
        scenario.clock.advance(timedelta(seconds=31))
        await scenario.send_queued()
        assert await scenario.delivery_statuses() == ["sent"]
        assert len(await scenario.published("operations.alert_raised.v1")) == 1


async def test_a_code_that_expired_meanwhile_is_not_sent(open_scenario: OpenScenario, providers: Providers) -> None:
    async with open_scenario() as scenario:
        await scenario.project_users()
        codes = Encryptor(CODE_DELIVERY, KEYS["code_delivery_key"])
        await scenario.receive(code_issued(codes, "sms", PHONE))
        scenario.clock.advance(timedelta(minutes=10))
        await scenario.send_queued()
        assert providers.texts == []
        assert await scenario.delivery_statuses() == ["failed"]
        assert await scenario.published("operations.alert_raised.v1") == []


@pytest.mark.parametrize("message", ["DND Active on Phone Number", "Invalid phone number"])
async def test_a_number_that_receives_nothing_is_not_tried_again(
    open_scenario: OpenScenario, providers: Providers, message: str
) -> None:
    async with open_scenario(sms_fallback_api_url=f"{providers.url}/second") as scenario:
        await scenario.project_users()
        providers.sms_faults.append(JSONResponse({"message": message}, 400))
        await send_ordinary(scenario)
        assert await scenario.delivery_statuses() == ["failed"]
        assert providers.forms == []
        assert await scenario.published("operations.alert_raised.v1") == []


@pytest.mark.parametrize("response", [lambda: Response(status_code=500), lambda: JSONResponse({"message": "ok"})])
async def test_a_message_that_may_have_arrived_is_not_sent_by_another_company(
    open_scenario: OpenScenario, providers: Providers, response
) -> None:
    async with open_scenario(sms_fallback_api_url=f"{providers.url}/second") as scenario:
        await scenario.project_users()
        providers.sms_faults.append(response())
        await send_ordinary(scenario)
        assert providers.forms == []
        # A PIN must arrive: a repeated one is harmless.
        providers.sms_faults.append(response())
        await send_pin(scenario)
        assert len(providers.forms) == 1


async def test_an_error_does_not_contain_the_number(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    providers.sms_faults.append(JSONResponse({"message": "Invalid phone number 2348030000001"}, 400))
    await send_pin(scenario)
    [attempt] = await scenario.attempts()
    assert attempt["error"] == "400 Invalid phone number ***"


def signed_receipt(url: str, token: str = "auth-token", **fields: str):
    signed = url + "".join(f"{name}{value}" for name, value in sorted(fields.items()))
    digest = hmac.new(token.encode(), signed.encode(), hashlib.sha1).digest()
    return {"content": urlencode(fields), "headers": {"X-Twilio-Signature": base64.b64encode(digest).decode()}}


async def test_twilio_sends_and_reports(open_scenario: OpenScenario, providers: Providers) -> None:
    url = providers.url.replace("http://", "http://AC1@")
    settings = {"sms_api_url": f"{url}/third", "sms_api_key": "auth-token", "sms_shape": "twilio"}
    async with open_scenario(**settings) as scenario:
        await scenario.project_users()
        await send_pin(scenario)
        [form] = providers.twilio
        assert (form["To"], form["From"], form["login"]) == ("+2348030000001", "Campus", "AC1:auth-token")
        assert "042917" in form["Body"]
        assert form["StatusCallback"].endswith(RECEIPTS)
        receipt = {"MessageSid": "SM1", "MessageStatus": "undelivered", "ErrorCode": "30005", "To": ""}
        forged = [
            signed_receipt(form["StatusCallback"], "another-token", **receipt),
            signed_receipt("https://elsewhere.example", **receipt),
            {**signed_receipt(form["StatusCallback"], **receipt), "content": urlencode({**receipt, "ErrorCode": "1"})},
            {"content": urlencode(receipt)},
        ]
        for one in forged:
            assert (await scenario.client.post(RECEIPTS, **one)).status_code == 401
        given = signed_receipt(form["StatusCallback"], **receipt)
        assert (await scenario.client.post(RECEIPTS, **given)).json()["data"] == {"received": True}
        await scenario.send_queued()
        assert await scenario.delivery_statuses() == ["failed"]
        [attempt] = await scenario.attempts()
        assert (attempt["status"], attempt["error"]) == ("failed", "undelivered 30005")
        [alert] = await scenario.published("operations.alert_raised.v1")
        assert "30005" in alert["detail"]


async def test_receipts_of_twilio_need_a_token(scenario: Scenario) -> None:
    receipt = signed_receipt(f"http://localhost:8080{RECEIPTS}", "not-set", MessageSid="SM1", MessageStatus="delivered")
    assert (await scenario.client.post(RECEIPTS, **receipt)).status_code == 401
