"""The messaging app's platform: registered templates and their review, errors by code, users without a number."""

import pytest

from testkit.fixtures import eventually
from testkit.providers.whatsapp.checking import check_request, check_response, check_webhook

from .conftest import Receiver, Sandbox

ACCOUNT = "/messaging/v21.0/102290129340398"
TEMPLATES = f"{ACCOUNT}/message_templates"
MESSAGES = "/messaging/v21.0/106540352242922/messages"
USER_ID = "NG.13491208655302741918"


@pytest.fixture(autouse=True)
async def conformance(sandbox: Sandbox, receiver: Receiver):
    """Every response of the messaging app, and every webhook, is one that WhatsApp could have sent."""

    async def check(response):
        path = response.request.url.path.removeprefix("/messaging")
        if path != response.request.url.path:
            await response.aread()
            check_response(response.request.method, path, response.status_code, response.json())

    sandbox.client.event_hooks["response"].append(check)
    yield
    for body in receiver.messaging():
        check_webhook(body)


def template(name="order_dispatched", text="Hi {{1}}, order {{2}} is on its way.", **changes):
    count = text.count("{{")
    body = {"type": "BODY", "text": text, "example": {"body_text": [["x"] * count]}}
    return {"name": name, "language": "en", "category": "UTILITY", "components": [body], **changes}


def code_template(name="one_time_code"):
    buttons = {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE", "text": "Copy code"}]}
    body = {"type": "BODY", "add_security_recommendation": True}
    return {"name": name, "language": "en", "category": "AUTHENTICATION", "components": [body, buttons]}


def message(name, *values, button=False, **recipient):
    parameters = [{"type": "text", "text": value} for value in values]
    components = [{"type": "body", "parameters": parameters}]
    if button:
        components.append({"type": "button", "sub_type": "url", "index": "0", "parameters": parameters})
    named = {"name": name, "language": {"code": "en"}, "components": components}
    return {
        "messaging_product": "whatsapp",
        "type": "template",
        "template": named,
        **(recipient or {"to": "2348012345678"}),
    }


async def test_a_template_is_registered_reviewed_and_listed_by_pages(sandbox: Sandbox) -> None:
    await sandbox.settings_are(messaging_template_review="manual")
    created = [await sandbox.client.post(TEMPLATES, json=template(f"template_{number}")) for number in range(5)]
    assert {response.json()["status"] for response in created} == {"PENDING"}
    review = "/control/messaging/templates"
    assert (await sandbox.client.post(f"{review}/template_0/approve", json={})).status_code == 200
    await sandbox.client.post(f"{review}/template_1/reject", json={"reason": "TAG_CONTENT_MISMATCH"})
    assert (await sandbox.client.post(f"{review}/unknown/approve", json={})).status_code == 404
    found, query = [], {"limit": "2", "fields": "name,status,rejected_reason"}
    while True:
        page = (await sandbox.client.get(TEMPLATES, params=query)).json()
        found += page["data"]
        if "next" not in page["paging"]:
            break
        query["after"] = page["paging"]["cursors"]["after"]
    assert [one["name"] for one in found] == [f"template_{number}" for number in range(5)]
    assert [one["status"] for one in found] == ["APPROVED", "REJECTED", *["PENDING"] * 3]
    assert found[1]["rejected_reason"] == "TAG_CONTENT_MISMATCH"
    assert found[0]["id"] == created[0].json()["id"]
    assert set(found[0]) == {"id", "name", "status", "rejected_reason"}


@pytest.mark.parametrize(
    ("given", "subcode"),
    [
        (template(text="{{1}} is here for you today"), 2388299),
        (template(text="Your order is {{1}}."), 2388299),
        (template(text="On {{1}} and {{2}} go"), 2388293),
        (template(text=""), 2388040),
        (template(components=[{"type": "BODY", "text": "Hi {{1}}, all of it is well."}]), 2388043),
        ({**code_template(), "components": [{"type": "BODY", "text": "Code {{1}} for you"}]}, 2388299),
        ({**template(), "name": "Order Dispatched"}, None),
        ({**template(), "category": "GOSSIP"}, None),
        ({**template(), "components": "x"}, None),
    ],
)
async def test_a_template_against_the_rules_is_rejected_at_once(sandbox: Sandbox, given, subcode: int | None) -> None:
    response = await sandbox.client.post(TEMPLATES, json=given)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error.get("error_subcode")) == (400, 100, subcode)


async def test_a_second_template_of_a_name_is_rejected_and_a_change_is_not(sandbox: Sandbox) -> None:
    created = (await sandbox.client.post(TEMPLATES, json=template())).json()
    again = (await sandbox.client.post(TEMPLATES, json=template())).json()["error"]
    assert (again["code"], again["error_subcode"]) == (100, 2388024)
    changed = {"components": template(text="Hi {{1}}, order {{2}} has left the shop.")["components"]}
    edited = await sandbox.client.post(f"/messaging/v21.0/{created['id']}", json=changed)
    assert edited.json() == {"success": True}
    unknown = await sandbox.client.post("/messaging/v21.0/77", json=changed)
    assert (unknown.status_code, unknown.json()["error"]["error_subcode"]) == (400, 33)
    unsigned = {"Authorization": ""}
    assert (await sandbox.client.get(TEMPLATES, headers=unsigned)).json()["error"]["code"] == 190


async def test_messages_need_an_approved_template_with_their_number_of_parameters(sandbox: Sandbox) -> None:
    assert (await sandbox.client.post(MESSAGES, json=message("anything", "x"))).status_code == 200
    await sandbox.client.post(TEMPLATES, json=template())
    await sandbox.client.post(TEMPLATES, json=code_template())
    sent = [
        message("order_dispatched", "Ada", "3F2A91BC"),
        message("one_time_code", "482915", button=True),
        message("order_dispatched", "Ada"),
        message("one_time_code", "482915"),
        message("unknown", "Ada"),
        message("one_time_code", "482915", button=True, recipient=USER_ID),
    ]
    responses = [await sandbox.client.post(MESSAGES, json=body) for body in sent]
    codes = [response.json().get("error", {}).get("code") for response in responses]
    assert codes == [None, None, 132000, 132000, 132001, 131062]
    await sandbox.client.post("/control/messaging/templates/order_dispatched/pause", json={})
    assert (await sandbox.client.post(MESSAGES, json=sent[0])).json()["error"]["code"] == 132015


@pytest.mark.parametrize(
    ("code", "status"), [("131042", 400), ("368", 403), ("190", 401), ("130429", 400), ("131016", 500)]
)
async def test_a_fault_names_an_error_of_the_platform(sandbox: Sandbox, code: str, status: int) -> None:
    await sandbox.fault(messaging={"fail": code, "times": 1})
    text = {"messaging_product": "whatsapp", "to": "2348012345678", "type": "text", "text": {"body": "Hello"}}
    response = await sandbox.client.post(MESSAGES, json=text)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, int(code))
    assert error["error_data"]["messaging_product"] == "whatsapp"
    assert (await sandbox.client.post(MESSAGES, json=text)).status_code == 200


async def test_a_failed_status_has_the_error_of_the_platform(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.settings_are(messaging_statuses=True, messaging_status_delay_seconds=0.01)
    await sandbox.fault(messaging_status={"fail": "131042"})
    await sandbox.client.post(MESSAGES, json=message("order_dispatched", "Ada"))
    await eventually(receiver.messaging)
    value = receiver.messaging()[0]["entry"][0]["changes"][0]["value"]
    [status] = value["statuses"]
    assert [error["code"] for error in status["errors"]] == [131042]
    assert "contacts" not in value


def test_the_calls_of_these_tests_are_calls_of_the_platform() -> None:
    path = MESSAGES.removeprefix("/messaging")
    for body in (message("order_dispatched", "Ada"), message("ticket_reply", "Ada", recipient=USER_ID)):
        check_request("POST", path, {}, {**body, "recipient_type": "individual", "biz_opaque_callback_data": "x"})
    for body in (template(), code_template()):
        check_request("POST", TEMPLATES.removeprefix("/messaging"), {}, body)


KINDS = [
    {"type": "image", "image": {"id": "7", "caption": "broken"}},
    {"type": "reaction", "reaction": {"message_id": "wamid.1", "emoji": "+1"}},
    {"type": "edit", "edit": {"original_message_id": "wamid.1", "message": {"type": "text", "text": {"body": "x"}}}},
    {"type": "system", "system": {"type": "user_changed_number", "body": "x", "wa_id": "2348012345679"}},
    {"type": "unsupported", "errors": [{"code": 131051, "title": "Message type unknown"}]},
]


async def test_messages_of_customers_are_those_of_the_platform(sandbox: Sandbox, receiver: Receiver) -> None:
    for content in KINDS:
        body = {"from": "2348012345678", "name": "Tolu", "message": content}
        assert (await sandbox.client.post("/control/messaging/incoming", json=body)).status_code == 202
    await sandbox.settings_are(messaging_statuses=True, messaging_status_delay_seconds=0.01)
    await sandbox.client.post(MESSAGES, json=message("anything", "x"))
    await sandbox.client.post(MESSAGES, json=message("anything", "x", recipient=USER_ID))
    await sandbox.client.post(TEMPLATES, json=template())
    await sandbox.client.post("/control/messaging/templates/order_dispatched/reject", json={})
    await eventually(lambda: len(receiver.messaging()) == len(KINDS) + 7)


async def test_a_user_without_a_number_writes_and_is_written_to(sandbox: Sandbox, receiver: Receiver) -> None:
    body = {"user_id": USER_ID, "username": "tolu.ade", "name": "Tolu", "text": "Hello"}
    assert (await sandbox.client.post("/control/messaging/incoming", json=body)).status_code == 202
    await eventually(receiver.messaging)
    value = receiver.messaging()[0]["entry"][0]["changes"][0]["value"]
    [contact], [received] = value["contacts"], value["messages"]
    assert contact == {"profile": {"name": "Tolu", "username": "tolu.ade"}, "user_id": USER_ID}
    assert (received["from_user_id"], "from" in received) == (USER_ID, False)
    text = {"messaging_product": "whatsapp", "recipient": USER_ID, "type": "text", "text": {"body": "Hello"}}
    response = (await sandbox.client.post(MESSAGES, json=text)).json()
    assert response["contacts"] == [{"input": USER_ID, "user_id": USER_ID}]
    assert [one["text"] for one in await sandbox.messages(to=USER_ID)] == ["Hello"]
