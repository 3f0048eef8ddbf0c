"""Every channel and its provider: what goes out, what a refusal means, who is asked next, and how far a message got."""

import asyncio
import hashlib
import hmac
import json
import socket
from datetime import timedelta
from urllib.parse import urlencode

import jwt
import pytest
from starlette.responses import JSONResponse, Response

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.orders import OrderDelivered, OrderDispatched
from contracts.payouts import BankDetailsChanged
from notifications.domain.errors import MessageUnknown, ProviderUnavailable
from notifications.templates.examples import example_of
from notifications.timers import advance_pins_once, enqueue_due_once
from notifications.use_cases.deliveries.record_delivery_status import record_delivery_status
from testkit.fixtures import eventually

from .conftest import without_drawn

QUEUE = "notifications.deliveries"
RECEIPT_KEY = "a receipt key for these tests"
PIN_RECEIPT = timedelta(seconds=91)


async def hear(story, channel, message_id, status, delivery_id=None):
    async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        at = story.service.runtime.clock.now()
        return await record_delivery_status(uow, channel, message_id, status, at, delivery_id=delivery_id)


async def open_alert(story):
    return {row["channel"]: row["status"] for row in await story.deliveries()}


def dispatched(story):
    return OrderDispatched(order_id=story.order_id, buyer_id=story.buyer_id, vendor_id=story.vendor_id)


async def test_a_web_push_is_encrypted_for_its_browser_and_signed_with_our_key(whole, outside):
    await whole.project_people()
    shown = await whole.service.client.get("/api/devices/vapid-key")
    endpoint = f"{outside.url}/push/web/browser-1"
    subscription = outside.browser.subscription(endpoint)
    registered = await whole.register(whole.buyer_id, kind="web", subscription=subscription)
    assert registered.status_code == 201, registered.text
    await whole.service.hear(dispatched(whole))
    await whole.service.work(QUEUE)
    [push] = outside.browser.received
    assert (push["template"], push["title"]) == ("order_dispatched", "Order on its way")
    assert "Ada's Kitchen" in push["body"]
    assert push["signer"] == shown.json()["data"]["publicKey"]
    assert push["claims"]["aud"] == outside.url
    assert push["claims"]["sub"].startswith("mailto:")
    now = int(whole.service.runtime.clock.now().timestamp())
    assert now < push["claims"]["exp"] <= now + 24 * 3600
    assert push["headers"]["topic"] == push["notificationId"].replace("-", "")
    assert (push["headers"]["urgency"], int(push["headers"]["ttl"])) == ("normal", 86_400)
    assert b"Kitchen" not in outside.browser.raw[0]
    # One delivery for the device, named by its id; and the mail beside it.
    [pushed] = [row for row in await whole.deliveries() if row["channel"] == "push"]
    [device] = await whole.service.fetch("SELECT id FROM user_devices")
    assert (pushed["recipient"], pushed["status"]) == (str(device["id"]), "sent")
    assert await open_alert(whole) == {"push": "sent", "email": "sent"}


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("web", 410),
        ("web", 404),
        (
            "android",
            {"error": {"code": 404, "status": "NOT_FOUND", "details": [{"errorCode": "UNREGISTERED"}]}},
        ),
    ],
)
async def test_a_dead_device_is_removed_and_nobody_is_woken_for_it(whole, outside, kind, fault):
    await whole.project_people()
    if kind == "web":
        subscription = outside.browser.subscription(f"{outside.url}/push/web/browser-2")
        await whole.register(whole.buyer_id, kind="web", subscription=subscription)
        outside.browser.faults.append(fault)
    else:
        await whole.register(whole.buyer_id, kind=kind, token="token-of-a-phone")
        outside.native_faults.append(JSONResponse(fault, 404))
    await whole.service.hear(dispatched(whole))
    await whole.service.work(QUEUE)
    assert await whole.service.fetch("SELECT 1 FROM user_devices") == []
    assert await open_alert(whole) == {"push": "failed", "email": "sent"}
    assert await whole.service.published("operations.alert_raised.v1") == []


async def test_an_app_is_reached_with_a_token_of_the_service_account_and_a_quota_is_waited_for(whole, outside):
    await whole.project_people()
    await whole.register(whole.buyer_id, kind="android", token="token-of-a-phone")
    await whole.service.hear(dispatched(whole))
    outside.native_faults.append(JSONResponse({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, 429))
    with pytest.raises(ProviderUnavailable):
        await whole.service.work(QUEUE)
    assert (await open_alert(whole))["push"] == "queued"
    await resend_queued(whole)
    await whole.service.work(QUEUE)
    [push] = outside.native
    assert push["authorization"] == "Bearer token-1"
    assert push["message"]["token"] == "token-of-a-phone"
    assert push["message"]["notification"]["title"] == "Order on its way"
    assert push["message"]["android"]["ttl"] == "86400s"
    # The token is kept for its hour: two calls, one assertion, signed by the account.
    [assertion] = outside.assertions
    claims = jwt.decode(assertion, options={"verify_signature": False})
    assert claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
    assert (await open_alert(whole))["push"] == "sent"


async def resend_queued(story):
    async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for row in await uow.fetch("SELECT id FROM notification_deliveries WHERE status = 'queued'"):
            uow.enqueue_work(QUEUE, row["id"], {"deliveryId": str(row["id"])})


async def test_the_messaging_app_gets_an_approved_text_only_for_who_asked_for_it(whole, outside):
    await whole.project_people()
    await whole.project_order()
    wishes = {"channels": {"push": True, "messaging": True, "sms": True, "email": True}}
    headers = whole.service.headers(whole.buyer_id)
    assert (await whole.service.client.put("/api/notification-preferences", json=wishes, headers=headers)).is_success
    await whole.service.hear(whole.held())
    await whole.service.work(QUEUE)
    [message] = outside.approved
    assert message["authorization"] == "Bearer token-of-the-app"
    assert (message["to"], message["template"]["name"]) == ("2348030000001", "order_confirmation")
    assert message["template"]["language"] == {"code": "en"}
    [body] = message["template"]["components"]
    assert [one["text"] for one in body["parameters"]][2:] == ["Ada's Kitchen", "₦5,300.00"]
    [delivery] = [row for row in await whole.deliveries() if row["channel"] == "messaging"]
    assert message["biz_opaque_callback_data"] == str(delivery["id"])
    # The vendor asked for nothing: mail alone.
    assert len(outside.mails) == 2


async def test_statuses_climb_and_late_lower_ones_change_nothing(whole, outside):
    await whole.project_people()
    await whole.service.hear(whole.pin())
    with pytest.raises(MessageUnknown):
        await hear(whole, "sms", "sms-1", "delivered")
    await whole.service.work(QUEUE)
    heard = [await hear(whole, "sms", "sms-1", status) for status in ("delivered", "sent", "delivered", "failed")]
    assert heard == [True, False, False, False]
    assert await hear(whole, "sms", "sms-1", "read") is True
    assert await open_alert(whole) == {"sms": "read"}
    [attempt] = await whole.attempts()
    assert attempt["status"] == "read"
    settled = await whole.service.published("notifications.delivery_settled.v1")
    assert [said["status"] for said in settled] == ["sent", "delivered", "read"]
    assert await whole.service.published("operations.alert_raised.v1") == []


async def test_a_status_that_names_our_delivery_is_believed_when_the_worker_died_before_it_could_record(whole, outside):
    await whole.project_people()
    await whole.service.hear(whole.pin())
    [delivery] = await whole.deliveries()
    dead = new_id()
    await whole.service.fetch(
        "WITH d AS (UPDATE notification_deliveries SET channel = 'messaging' RETURNING *) "
        "INSERT INTO notification_delivery_logs (id, delivery_id, notification_id, user_id, channel, template, recipient, "
        "status, attempted_at) SELECT $1, id, notification_id, NULL, channel, template, 'x', 'unknown', created_at "
        "FROM d RETURNING 1",
        dead,
    )
    assert await hear(whole, "messaging", "wamid.9", "delivered", delivery["id"]) is True
    assert await open_alert(whole) == {"messaging": "delivered"}
    await whole.service.work(QUEUE)
    assert outside.approved == []


def termii(message_id, status, key=RECEIPT_KEY):
    raw = json.dumps({"message_id": message_id, "status": status, "message": "Your PIN is 042917"}).encode()
    return raw, {"X-Termii-Signature": hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()}


async def test_receipts_of_both_companies_are_believed_with_the_key_only(whole, outside):
    await whole.project_people()
    await whole.service.hear(whole.pin())
    await whole.service.work(QUEUE)
    client, path = whole.service.client, "/functions/v1/sms-receipts"
    raw, headers = termii("sms-1", "DELIVERED", key="another key")
    assert (await client.post(f"{path}/termii", content=raw, headers=headers)).status_code == 401
    assert (await client.post(f"{path}/termii", content=raw)).status_code == 401
    form = urlencode({"id": "sms-1", "status": "Success"})
    assert (await client.post(f"{path}/africas-talking", content=form)).status_code == 401
    assert (await client.post(f"{path}/africas-talking?key=wrong", content=form)).status_code == 401
    for odd in (b"[]", b"\xff", b'{"message_id": 7}', b'{"message_id": "\xff"}', b"[" * 9_000):
        signed = {"X-Termii-Signature": hmac.new(RECEIPT_KEY.encode(), odd, hashlib.sha512).hexdigest()}
        assert (await client.post(f"{path}/termii", content=odd, headers=signed)).status_code == 200
    assert (await client.post(f"{path}/termii", content=b"x" * 20_000)).status_code == 413
    assert await whole.service.work(QUEUE) == 0
    raw, headers = termii("sms-1", "Message Sent")
    assert (await client.post(f"{path}/termii", content=raw, headers=headers)).json()["data"] == {"received": True}
    # That the network has it, the company's answer said before.
    assert await whole.service.work(QUEUE) == 0
    assert await open_alert(whole) == {"sms": "sent"}
    key = urlencode({"key": RECEIPT_KEY})
    assert (await client.post(f"{path}/africas-talking?{key}", content=form)).status_code == 200
    await whole.service.work(QUEUE)
    assert await open_alert(whole) == {"sms": "delivered"}


async def test_the_second_sms_company_is_asked_when_the_first_does_not_take_the_message(open_story, outside):
    async with open_story(sms_fallback_api_url=f"{outside.url}/second") as story:
        await story.project_people()
        await story.service.hear(story.pin())
        outside.sms_faults.append(JSONResponse({"message": "down for maintenance"}, 503))
        await story.service.work(QUEUE)
        [form] = outside.forms
        assert (form["to"], "042917" in form["message"]) == ("+2348030000001", True)
        assert outside.texts == []
        assert [(one["provider"], one["status"]) for one in await story.attempts()] == [
            ("sms-http", "failed"),
            ("sms-http-fallback", "sent"),
        ]
        # Neither takes it: the ladder; a number that the second refuses for good ends there.
        await story.service.hear(story.pin(issue=2))
        refused = {"SMSMessageData": {"Recipients": [{"statusCode": 403, "status": "InvalidPhoneNumber"}]}}
        outside.sms_faults.append(JSONResponse({}, 503))
        outside.form_faults.append(JSONResponse(refused, 201))
        await story.service.work(QUEUE)
        assert [row["status"] for row in await story.deliveries()] == ["sent", "failed"]


async def test_a_provider_that_fails_again_and_again_rests_and_its_messages_wait_without_using_up_the_ladder(
    open_story, outside
):
    async with open_story(provider_failures_max=2, provider_rest_seconds=30) as story:
        await story.project_people()
        outside.sms_down = True
        for _ in range(2):
            await story.service.hear(story.pin(issue=_ + 1))
            with pytest.raises(ProviderUnavailable):
                await story.service.work(QUEUE)
        [alert] = await story.service.published("operations.alert_raised.v1")
        assert alert["dedupKey"] == "provider-rests:sms-http"
        await story.service.hear(story.pin("583016", issue=3))
        await story.service.hear(dispatched(story))
        await story.service.work(QUEUE)
        # The mail goes out meanwhile; the text message has used no attempt.
        assert len(outside.mails) == 1
        waiting = [row for row in await story.deliveries() if row["due_at"] is not None]
        assert [(row["channel"], row["attempts"]) for row in waiting] == [("sms", 0)]
        outside.sms_down = False
        clock = story.service.runtime.clock
        assert await enqueue_due_once(story.service.dependencies) == 0
        clock.advance(timedelta(seconds=31))
        assert await enqueue_due_once(story.service.dependencies) == 1
        await story.service.work(QUEUE)
        assert ["583016" in text["sms"] for text in outside.texts] == [True]


async def test_a_pin_goes_on_by_the_messaging_app_and_then_by_push_until_somebody_says_that_it_arrived(whole, outside):
    await whole.project_people()
    await whole.register(whole.buyer_id, kind="android", token="token-of-a-phone")
    wishes = {"channels": {"push": False, "messaging": False, "sms": False, "email": False}}
    headers = whole.service.headers(whole.buyer_id)
    await whole.service.client.put("/api/notification-preferences", json=wishes, headers=headers)
    clock = whole.service.runtime.clock
    await whole.service.hear(whole.pin())
    await whole.service.work(QUEUE)
    assert await advance_pins_once(whole.service.dependencies) == 0
    clock.advance(PIN_RECEIPT)
    assert await advance_pins_once(whole.service.dependencies) == 1
    assert await advance_pins_once(whole.service.dependencies) == 0
    await whole.service.work(QUEUE)
    [message] = outside.approved
    assert [one["text"] for one in message["template"]["components"][0]["parameters"]][1] == "042917"
    # The second failed, says the company: the third is due at once.
    assert await hear(whole, "messaging", "wamid.1", "failed") is True
    assert await advance_pins_once(whole.service.dependencies) == 1
    await whole.service.work(QUEUE)
    [push] = outside.native
    assert "notification" not in push["message"]
    assert "042917" in push["message"]["data"]["body"]
    clock.advance(PIN_RECEIPT)
    assert await advance_pins_once(whole.service.dependencies) == 0
    assert (len(outside.texts), len(outside.approved), len(outside.native)) == (1, 1, 1)
    # Staff see how far each got, and no PIN.
    logs = await whole.service.client.get(
        "/api/notification-delivery-logs", headers=whole.service.headers(new_id(), roles=["auditor"])
    )
    assert {one["channel"]: one["status"] for one in logs.json()["data"]} == {
        "sms": "sent",
        "messaging": "failed",
        "push": "sent",
    }
    assert "042917" not in without_drawn(logs.text)


@pytest.mark.parametrize("ended_by", ["receipt", "newer", "used"])
async def test_a_pin_that_arrived_or_opens_nothing_any_more_goes_no_other_way(whole, outside, ended_by):
    await whole.project_people()
    await whole.service.hear(whole.pin())
    await whole.service.work(QUEUE)
    ids = {"order_id": whole.order_id, "buyer_id": whole.buyer_id, "vendor_id": whole.vendor_id}
    if ended_by == "receipt":
        await hear(whole, "sms", "sms-1", "delivered")
    elif ended_by == "newer":
        await whole.service.hear(whole.pin("583016", issue=2))
        await whole.service.work(QUEUE)
        await hear(whole, "sms", "sms-2", "delivered")
        await whole.service.hear(whole.pin(issue=1))
    else:
        await whole.service.hear(OrderDelivered(**ids, delivered_at="2026-01-01T10:00:00.000Z", verified_by=new_id()))
        await whole.service.hear(whole.pin(issue=2))
    await whole.service.work(QUEUE)
    whole.service.runtime.clock.advance(PIN_RECEIPT)
    assert await advance_pins_once(whole.service.dependencies) == 0
    assert outside.approved == []
    assert len(outside.texts) == (2 if ended_by == "newer" else 1)
    if ended_by != "receipt":
        [first, *_] = [row for row in await whole.deliveries() if row["channel"] == "sms"]
        assert first["sealed"] == {}


async def test_a_dead_process_between_two_steps_of_a_pin_repeats_none(whole, outside):
    await whole.project_people()
    await whole.service.hear(whole.pin())
    await whole.service.work(QUEUE)
    whole.service.runtime.clock.advance(PIN_RECEIPT)
    moved = await asyncio.gather(*(advance_pins_once(whole.service.dependencies) for _ in range(5)))
    assert sum(moved) == 1
    await whole.service.work(QUEUE)
    assert len(outside.approved) == 1


async def test_quiet_hours_delay_messages_until_their_end_but_never_a_pin_or_the_bank_account(whole, outside):
    await whole.project_people()
    clock = whole.service.runtime.clock
    wishes = {
        "channels": {"push": True, "messaging": False, "sms": True, "email": True},
        # It is 01:00 in Lagos, and the quiet hours go over midnight.
        "quietHours": {"from": "22:00", "to": "07:30"},
    }
    for user_id in (whole.buyer_id, whole.owner_id):
        headers = whole.service.headers(user_id)
        answer = await whole.service.client.put("/api/notification-preferences", json=wishes, headers=headers)
        assert answer.json()["data"]["quietHours"] == {"from": "22:00", "to": "07:30", "timezone": "Africa/Lagos"}
    await whole.service.hear(dispatched(whole))
    await whole.service.hear(whole.pin())
    await whole.service.hear(BankDetailsChanged(vendor_id=whole.vendor_id, last4="6785", bank_code="058"))
    await whole.service.work(QUEUE)
    assert (len(outside.texts), [mail["To"] for mail in outside.mails]) == (1, ["ada@unilag.edu.ng"])
    clock.advance(timedelta(hours=6, minutes=29))
    assert await enqueue_due_once(whole.service.dependencies) == 0
    clock.advance(timedelta(minutes=1))
    assert await enqueue_due_once(whole.service.dependencies) == 1
    await whole.service.work(QUEUE)
    assert [mail["To"] for mail in outside.mails] == ["ada@unilag.edu.ng", "chidi@unilag.edu.ng"]


async def test_mails_share_one_connection_and_a_lost_one_is_opened_again(story, outside):
    await story.project_people(phone=None)
    for issue in (1, 2):
        await story.service.hear(story.pin(issue=issue))
    await story.service.work(QUEUE)
    assert outside.mail_connections == 1
    outside.hang_up()
    await story.service.hear(story.pin(issue=3))
    await story.service.work(QUEUE)
    assert (len(outside.mails), outside.mail_connections) == (3, 2)


async def test_staff_send_again_once_for_each_key_and_never_a_dead_secret(whole, outside):
    await whole.project_people()
    await whole.service.hear(whole.pin())
    await whole.service.hear(dispatched(whole))
    await whole.service.work(QUEUE)
    attempts = {row["channel"]: row["id"] for row in await whole.attempts()}
    support = new_id()

    async def resend(log_id, key=None, roles=("support_agent",)):
        headers = whole.service.headers(support, idempotency_key=key, roles=list(roles))
        return await whole.service.client.post(f"/api/notification-delivery-logs/{log_id}/resend", headers=headers)

    assert (await resend(attempts["sms"], roles=("auditor",))).status_code == 403
    assert (await resend(new_id())).status_code == 404
    key = new_id()
    assert (await resend(attempts["email"], key)).json()["data"]["status"] == "queued"
    assert (await resend(attempts["email"])).status_code == 409
    await whole.service.work(QUEUE)
    assert (await resend(attempts["email"], key)).json()["data"]["status"] == "sent"
    assert await whole.service.work(QUEUE) == 0
    assert len(outside.mails) == 2
    assert (await resend(attempts["sms"])).status_code == 200
    await whole.service.work(QUEUE)
    assert ["042917" in text["sms"] for text in outside.texts] == [True, True]
    await whole.service.hear(
        OrderDelivered(
            order_id=whole.order_id,
            buyer_id=whole.buyer_id,
            vendor_id=whole.vendor_id,
            delivered_at="2026-01-01T10:00:00.000Z",
            verified_by=new_id(),
        )
    )
    assert (await resend(attempts["sms"])).status_code == 409
    asked = await whole.service.fetch("SELECT asked_by FROM notification_resends")
    assert [row["asked_by"] for row in asked] == [support, support]
    [sms] = [row for row in await whole.deliveries() if row["channel"] == "sms"]
    assert sms["status"] == "sent"


@pytest.mark.parametrize(
    "address", ["https://169.254.169.254/x", "https://localhost.example.com/x", "https://xn--a.com/x"]
)
async def test_a_push_into_our_own_network_is_never_sent(whole, outside, monkeypatch, address):
    """Whatever wrote the address, it is checked again when it is called: by its form, and by what its name resolves to."""
    asked = []

    def resolved(host, port, **_):
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    await whole.project_people()
    subscription = outside.browser.subscription("https://push.example.com/x")
    await whole.register(whole.buyer_id, kind="web", subscription=subscription)
    await whole.service.fetch("UPDATE user_devices SET address = $1 RETURNING 1", address)
    await whole.service.hear(dispatched(whole))
    monkeypatch.setattr("common.web.outbound.socket.getaddrinfo", resolved)
    await whole.service.work(QUEUE)
    assert await open_alert(whole) == {"push": "failed", "email": "sent"}
    assert outside.browser.received == []
    assert ("localhost.example.com" in asked) == ("localhost" in address)


async def test_the_four_channels_answer_deliver_notification(whole, outside):
    await whole.project_people()
    await whole.register(whole.buyer_id, kind="ios", token="token-1")
    await whole.register(whole.buyer_id, kind="android", token="token-2")
    outside.native_faults.append(Response(status_code=400))
    for channel in ("push", "messaging", "sms", "email"):
        body = {
            "notificationId": str(new_id()),
            "userId": str(whole.buyer_id),
            "channel": channel,
            "template": "order_confirmation",
            "data": example_of("order_confirmation"),
        }
        key = {"Authorization": "Bearer service-role-key-of-these-tests"}
        path = "/functions/v1/deliver-notification"
        first = await whole.service.client.post(path, json=body, headers=key)
        assert (first.status_code, first.json()["data"]["status"]) == (200, "queued")
        await whole.service.work(QUEUE)
        again = await whole.service.client.post(path, json=body, headers=key)
        # Of two devices one refused: it stands as on the other.
        assert again.json()["data"]["status"] == "sent"
        assert again.json()["data"]["providerMessageId"]
    assert await eventually(lambda: (len(outside.native), len(outside.approved)) == (1, 1))
