import asyncio
import base64
import gzip
import json
import smtplib
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any
from urllib.parse import parse_qsl

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox

TERMII = {
    "to": "2348012345678",
    "from": "Campus",
    "sms": "Your PIN is 482913",
    "type": "plain",
    "channel": "dnd",
    "api_key": "k-secret",
}


async def test_both_sms_formats_reach_the_same_phone(sandbox: Sandbox) -> None:
    first = await sandbox.client.post("/sms/api/sms/send", json=TERMII)
    assert first.json()["message_id"]
    form = {"username": "campus", "to": "+2348012345678,+2348099999999", "message": "Your code is 1234"}
    second = await sandbox.client.post("/sms/version1/messaging", data=form, headers={"apiKey": "k-secret"})
    assert second.status_code == 201
    responses = second.json()["SMSMessageData"]["Recipients"]
    assert [(one["statusCode"], one["number"], one["status"]) for one in responses] == [
        (101, "+2348012345678", "Success"), (101, "+2348099999999", "Success"),
    ]  # fmt: skip
    received = await sandbox.messages(to="+2348012345678")
    assert [message["text"] for message in received] == ["Your code is 1234", "Your PIN is 482913"]
    assert "k-secret" not in str(received)
    assert [message["text"] for message in await sandbox.messages(q="482913", channel="sms")] == ["Your PIN is 482913"]


async def test_sms_failures_have_each_provider_s_form(sandbox: Sandbox) -> None:
    await sandbox.fault(sms={"fail": "RejectedByGateway", "match": "+2348012345678"})
    assert (await sandbox.client.post("/sms/api/sms/send", json=TERMII)).status_code == 400
    form = {"username": "campus", "to": "+2348012345678", "message": "x"}
    response = await sandbox.client.post("/sms/version1/messaging", data=form, headers={"apiKey": "k"})
    assert response.status_code == 201
    assert response.json()["SMSMessageData"]["Recipients"][0]["status"] == "RejectedByGateway"
    assert await sandbox.messages() == []
    assert (await sandbox.client.post("/sms/api/sms/send", json={**TERMII, "api_key": ""})).status_code == 401


def mail_to(*recipients):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "no-reply@campus.example", ", ".join(recipients), "Ọrẹ, your order"
    mail.set_content("Plain words")
    mail.add_alternative("<p>Rich <b>words</b></p>", subtype="html")
    return mail


async def test_a_mail_is_stored_with_both_parts_for_each_recipient(sandbox: Sandbox) -> None:
    def send():
        with smtplib.SMTP("127.0.0.1", sandbox.settings.smtp_port, timeout=60) as server:
            server.login("any", "thing")
            server.send_message(mail_to("Buyer@unilag.edu.ng", "vendor@unilag.edu.ng"))

    await asyncio.to_thread(send)
    [mail] = await sandbox.messages(to="buyer@unilag.edu.ng", channel="email")
    assert (mail["from"], mail["subject"]) == ("no-reply@campus.example", "Ọrẹ, your order")
    assert mail["text"].strip() == "Plain words"
    assert "<b>words</b>" in mail["html"]
    assert len(await sandbox.messages(channel="email")) == 2
    page = (await sandbox.client.get("/inbox", params={"person": "Buyer@unilag.edu.ng"})).text
    assert "buyer@unilag.edu.ng" in page
    assert "<b>words</b>" not in page
    framed = await sandbox.client.get(f"/inbox/mail/{mail['id']}")
    assert (framed.status_code, framed.text) == (200, mail["html"])
    assert framed.headers["content-security-policy"].endswith("; sandbox")


async def test_a_mail_can_be_rejected(sandbox: Sandbox) -> None:
    await sandbox.fault(smtp={"fail": "Mailbox full", "times": 1})

    def send():
        with smtplib.SMTP("127.0.0.1", sandbox.settings.smtp_port, timeout=60) as server:
            server.send_message(mail_to("buyer@unilag.edu.ng"))

    with pytest.raises(smtplib.SMTPDataError, match="Mailbox full"):
        await asyncio.to_thread(send)
    await asyncio.to_thread(send)
    assert len(await sandbox.messages()) == 1


TEMPLATE = {
    "messaging_product": "whatsapp",
    "to": "2348012345678",
    "type": "template",
    "template": {
        "name": "order_confirmation",
        "language": {"code": "en"},
        "components": [
            {"type": "body", "parameters": [{"type": "text", "text": "Ada"}, {"type": "text", "text": "₦5,000"}]}
        ],
    },
}


async def test_message_statuses_are_reported_when_switched_on(sandbox: Sandbox, receiver: Receiver) -> None:
    async def send():
        response = await sandbox.client.post("/messaging/v21.0/1065/messages", json=TEMPLATE)
        return response.json()["messages"][0]["id"]

    await send()
    assert await sandbox.webhooks() == []
    await sandbox.settings_are(messaging_statuses=True, messaging_status_delay_seconds=0.02)
    message_id = await send()
    await eventually(lambda: len(receiver.messaging()) == 3)
    statuses = [body["entry"][0]["changes"][0]["value"]["statuses"][0] for body in receiver.messaging()]
    assert {status["status"] for status in statuses} == {"sent", "delivered", "read"}
    assert {status["id"] for status in statuses} == {message_id}
    assert (await sandbox.messages(to="+2348012345678"))[0]["text"] == "[order_confirmation, en] Ada | ₦5,000"


async def test_messaging_errors_have_the_platform_s_form(sandbox: Sandbox) -> None:
    path = "/messaging/v21.0/1065/messages"
    refused = await sandbox.client.post(path, json=TEMPLATE, headers={"Authorization": ""})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, 190)
    await sandbox.fault(messaging={"fail": "Message undeliverable", "times": 1})
    failed = await sandbox.client.post(path, json=TEMPLATE)
    assert (failed.status_code, failed.json()["error"]["message"]) == (400, "Message undeliverable")
    assert (await sandbox.client.post(path, json={**TEMPLATE, "type": "video"})).status_code == 400
    text = {"messaging_product": "whatsapp", "to": "+2348012345678", "type": "text", "text": {"body": "Hello"}}
    assert (await sandbox.client.post(path, json=text)).json()["contacts"] == [
        {"input": "+2348012345678", "wa_id": "2348012345678"}
    ]
    assert len(await sandbox.messages()) == 1


async def test_a_customer_s_message_sends_the_specified_webhook(sandbox: Sandbox, receiver: Receiver) -> None:
    body = {"from": "+2348012345678", "name": "Tolu", "text": "Where is my order?"}
    assert (await sandbox.client.post("/control/messaging/incoming", json=body)).status_code == 202
    await eventually(receiver.messaging)
    [change] = receiver.messaging()[0]["entry"][0]["changes"]
    assert change["field"] == "messages"
    value = change["value"]
    [contact] = value["contacts"]
    assert {"profile": {"name": "Tolu"}, "wa_id": "2348012345678"}.items() <= contact.items()
    assert value["messages"][0]["from_user_id"] == contact["user_id"]
    assert value["messages"][0]["text"] == {"body": "Where is my order?"}
    assert value["messages"][0]["timestamp"].isdigit()
    assert set(value["metadata"]) == {"display_phone_number", "phone_number_id"}


async def test_images_and_manual_statuses_have_the_platform_s_form(sandbox: Sandbox, receiver: Receiver) -> None:
    image_bytes = {"type": "image", "image": {"id": "7", "caption": "broken"}}
    body = {"from": "2348012345678", "message": image_bytes, "id": "wamid.7"}
    assert (await sandbox.client.post("/control/messaging/incoming", json=body)).status_code == 202
    assert (await sandbox.client.post("/control/messaging/incoming", json={"from": "234"})).status_code == 400
    body = {"messaging_product": "whatsapp", "to": "2348012345678", "type": "text", "text": {"body": "Hello"}}
    path, given = "/messaging/v21.0/1065/messages", {"biz_opaque_callback_data": "ours"}
    message_id = (await sandbox.client.post(path, json={**body, **given})).json()["messages"][0]["id"]
    statuses = "/control/messaging/statuses"
    assert (await sandbox.client.post(statuses, json={"id": message_id, "status": "read"})).status_code == 202
    assert (await sandbox.client.post(statuses, json={"id": message_id, "status": "eaten"})).status_code == 400
    assert (await sandbox.client.post(statuses, json={"id": "wamid.none", "status": "read"})).status_code == 404
    await eventually(lambda: len(receiver.messaging()) == 2)
    values = [one["entry"][0]["changes"][0]["value"] for one in receiver.messaging()]
    [message] = next(value["messages"] for value in values if "messages" in value)
    assert {"id": "wamid.7", "from": "2348012345678", **image_bytes}.items() <= message.items()
    [status] = next(value["statuses"] for value in values if "statuses" in value)
    assert {"id": message_id, "status": "read", "recipient_id": "2348012345678", **given}.items() <= status.items()


async def test_native_and_web_push_messages_are_stored(sandbox: Sandbox) -> None:
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "signed"}
    token = (await sandbox.client.post("/push/oauth/token", data=form)).json()
    assert token["token_type"] == "Bearer"
    message = {"message": {"token": "device-1", "notification": {"title": "Paid", "body": "Order 7"}}}
    native = "/push/v1/projects/campus/messages:send"
    sent = await sandbox.client.post(native, json=message, headers={"Authorization": f"Bearer {token['access_token']}"})
    assert sent.json()["name"].startswith("projects/campus/messages/")
    headers = {"TTL": "60", "Content-Encoding": "aes128gcm", "Authorization": "vapid t=secret-token, k=x"}
    web = await sandbox.client.post("/push/web/browser-1", content=b"x" * 120, headers=headers)
    assert web.status_code == 201
    assert web.headers["location"]
    assert [(one["channel"], one["to"]) for one in await sandbox.messages()] == [
        ("web_push", "browser-1"),
        ("push", "device-1"),
    ]
    kept = (await sandbox.messages(to="browser-1"))[0]["payload"]
    assert (kept["length"], kept["headers"]["authorization"]) == (120, "vapid")
    assert base64.b64decode(kept["body"]) == b"x" * 120

    await sandbox.fault(push={"fail": "UNREGISTERED"})
    ended = await sandbox.client.post(native, json=message)
    assert (ended.status_code, ended.json()["error"]["details"][0]["errorCode"]) == (404, "UNREGISTERED")
    assert (await sandbox.client.post("/push/web/browser-1", content=b"x", headers=headers)).status_code == 410
    await sandbox.fault(push={"fail": "QUOTA_EXCEEDED"})
    assert (await sandbox.client.post(native, json=message)).json()["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert (await sandbox.client.post("/push/web/browser-1", content=b"x", headers=headers)).status_code == 429


async def test_the_text_of_a_data_message_is_displayed(sandbox: Sandbox) -> None:
    message = {"message": {"token": "device-2", "data": {"title": "Campus", "body": "Your PIN is 042917"}}}
    assert (await sandbox.client.post("/push/v1/projects/campus/messages:send", json=message)).status_code == 200
    assert [one["text"] for one in await sandbox.messages(to="device-2")] == ["Your PIN is 042917"]


RECEIPT_KEY = "receipt-key"


async def test_each_sms_provider_sends_delivery_receipts(
    environment: dict[str, str], running_sandbox: Callable[..., Any], receiver: Receiver
) -> None:
    with_receipts = {**environment, "SMS_RECEIPT_URL": f"{receiver.address}/receipts", "SMS_RECEIPT_KEY": RECEIPT_KEY}
    async with running_sandbox(with_receipts) as sandbox:
        await sandbox.settings_are(sms_receipt_delay_seconds=0.01)
        message_id = (await sandbox.client.post("/sms/api/sms/send", json=TERMII)).json()["message_id"]
        form = {"username": "campus", "to": "+2348012345678", "message": "x"}
        await sandbox.fault(sms_receipt={"fail": "UserInBlacklist", "match": "+2348012345678"})
        await sandbox.client.post("/sms/version1/messaging", data=form, headers={"apiKey": "k"})
        await eventually(lambda: len(receiver.receipts) == 3)
        termii = [json.loads(raw) for path, raw in receiver.receipts if path == "/receipts/termii"]
        assert {one["message_id"] for one in termii} == {message_id}
        assert {one["status"] for one in termii} == {"Message Sent", "DELIVERED"}
        [other] = [dict(parse_qsl(raw.decode())) for path, raw in receiver.receipts if "africas" in path]
        assert (other["status"], other["failureReason"]) == ("Failed", "UserInBlacklist")


async def test_a_fault_of_one_sms_provider_does_not_affect_the_other(sandbox: Sandbox) -> None:
    await sandbox.fault(sms_termii={"error_before": True})
    assert (await sandbox.client.post("/sms/api/sms/send", json=TERMII)).status_code == 500
    form = {"username": "campus", "to": "+2348012345678", "message": "x"}
    response = await sandbox.client.post("/sms/version1/messaging", data=form, headers={"apiKey": "k"})
    assert response.json()["SMSMessageData"]["Recipients"][0]["statusCode"] == 101


async def test_a_failure_returns_the_sender_s_data(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.settings_are(messaging_statuses=True, messaging_status_delay_seconds=0.01)
    await sandbox.fault(messaging_status={"fail": "Message undeliverable"})
    await sandbox.client.post(
        "/messaging/v21.0/1065/messages", json={**TEMPLATE, "biz_opaque_callback_data": "delivery-1"}
    )
    await eventually(receiver.messaging)
    [status] = receiver.messaging()[0]["entry"][0]["changes"][0]["value"]["statuses"]
    assert (status["status"], status["biz_opaque_callback_data"]) == ("failed", "delivery-1")


async def test_alerts_are_accepted_in_three_formats(sandbox: Sandbox) -> None:
    alerts = [
        {"labels": {"alertname": "PayoutFailed", "severity": "critical"}, "annotations": {"summary": "Payout failed"}}
    ]
    assert (await sandbox.client.post("/on-call/api/v2/alerts", json=alerts)).status_code == 200
    event = {
        "routing_key": "r-secret",
        "event_action": "trigger",
        "dedup_key": "payout-1",
        "payload": {"summary": "Balance empty", "source": "payouts", "severity": "critical"},
    }
    queued = await sandbox.client.post("/on-call/v2/enqueue", json=event)
    assert (queued.status_code, queued.json()["dedup_key"]) == (202, "payout-1")
    assert (
        await sandbox.client.post("/on-call/webhook", json={"summary": "Dead letter", "severity": "SEV-2"})
    ).status_code == 200
    received = await sandbox.messages(to="on-call")
    assert [message["text"] for message in received] == ["Dead letter", "Balance empty", "Payout failed"]
    assert "r-secret" not in str(received)
    assert (await sandbox.client.post("/on-call/v2/enqueue", json={**event, "routing_key": ""})).status_code == 400
    acknowledged = {"routing_key": "r-secret", "event_action": "acknowledge", "dedup_key": "payout-1"}
    assert (await sandbox.client.post("/on-call/v2/enqueue", json=acknowledged)).status_code == 202
    assert (await sandbox.messages(to="on-call"))[0]["subject"] == "acknowledge"
    without_key = {**acknowledged, "dedup_key": ""}
    assert (await sandbox.client.post("/on-call/v2/enqueue", json=without_key)).status_code == 400
    assert (await sandbox.client.post("/on-call/api/v2/alerts", json=[{}])).status_code == 400


async def test_the_page_of_messages_can_be_searched(sandbox: Sandbox) -> None:
    await sandbox.client.post("/sms/api/sms/send", json=TERMII)
    await sandbox.client.post("/sms/api/sms/send", json={**TERMII, "to": "2348055555555", "sms": "<b>100%</b>"})
    page = (await sandbox.client.get("/inbox", params={"q": "100%"})).text
    assert "+2348055555555" in page
    assert "+2348012345678" not in page
    assert "&lt;b&gt;100%" in page
    assert (await sandbox.client.delete("/control/messages")).status_code == 204
    assert await sandbox.messages() == []


def export(trace_id: bytes) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    service = resource.resource.attributes.add()
    service.key, service.value.string_value = "service.name", "orders"
    spans = resource.scope_spans.add().spans
    for span_id, parent, name in (
        (b"\1" * 8, b"", "POST /api/orders/checkout"),
        (b"\2" * 8, b"\1" * 8, "INSERT <orders>"),
    ):
        span = spans.add(trace_id=trace_id, span_id=span_id, parent_span_id=parent, name=name)
        span.start_time_unix_nano, span.end_time_unix_nano = 1_790_000_000_000_000_000, 1_790_000_000_004_000_000
        attribute = span.attributes.add()
        attribute.key, attribute.value.int_value = "http.status", 201
    return request


async def test_spans_become_a_tree_and_a_waterfall(sandbox: Sandbox) -> None:
    raw = export(b"\7" * 16).SerializeToString()
    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
    assert (
        await sandbox.client.post("/otlp/v1/traces", content=gzip.compress(raw), headers=headers)
    ).status_code == 200
    assert (await sandbox.client.post("/otlp/v1/traces", content=raw)).status_code == 200
    trace = (await sandbox.client.get("/control/traces/" + "07" * 16)).json()
    assert (trace["span_count"], trace["services"]) == (2, ["orders"])
    [root] = trace["spans"]
    assert (root["name"], root["duration_milliseconds"], root["attributes"]) == (
        "POST /api/orders/checkout",
        4.0,
        {"http.status": 201},
    )
    assert [child["name"] for child in root["children"]] == ["INSERT <orders>"]
    assert "POST /api/orders/checkout" in (await sandbox.client.get("/traces")).text
    assert "INSERT &lt;orders&gt;" in (await sandbox.client.get("/traces/" + "07" * 16)).text
    assert (await sandbox.client.get("/control/traces/" + "08" * 16)).status_code == 404
    assert (await sandbox.client.post("/otlp/v1/traces", content=b"\xff\xff")).status_code == 400
    assert (await sandbox.client.post("/otlp/v1/traces", content=b"x", headers=headers)).status_code == 400
