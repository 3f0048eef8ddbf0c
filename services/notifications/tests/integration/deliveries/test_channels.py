"""Every channel and its provider: requests, rejections, fallbacks and delivery statuses."""

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

from common.primitives.ids import new_id
from contracts.payouts import BankDetailsChanged
from notifications.deliveries.domain.errors import MessageUnknown
from notifications.deliveries.timers import advance_pins_once
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status
from testkit.fixtures import eventually
from testkit.work import own_actions_of

from ..conftest import OpenScenario, Scenario
from ..providers import Providers
from ..steps import without_random_values

RECEIPT_KEY = "a receipt key for these tests"
PIN_RECEIPT = timedelta(seconds=91)


async def record_status(scenario: Scenario, channel, message_id, status, delivery_id=None):
    async with scenario.unit_of_work() as uow:
        at = scenario.clock.now()
        return await record_delivery_status(uow, StatusReport(channel, message_id, status, at, delivery_id))


async def test_a_web_push_is_encrypted_for_its_browser_and_signed_with_our_key(
    full_scenario: Scenario, providers: Providers
) -> None:
    await full_scenario.project_users()
    shown = await full_scenario.client.get("/api/devices/vapid-key")
    endpoint = f"{providers.url}/push/web/browser-1"
    subscription = providers.browser.subscription(endpoint)
    registered = await full_scenario.register(full_scenario.buyer_id, kind="web", subscription=subscription)
    assert registered.status_code == 201, registered.text
    await full_scenario.receive(full_scenario.dispatched())
    await full_scenario.send_queued()
    [push] = providers.browser.received
    assert (push["template"], push["title"]) == ("order_dispatched", "Order on its way")
    assert "Ada's Kitchen" in push["body"]
    assert push["signer"] == shown.json()["data"]["publicKey"]
    assert push["claims"]["aud"] == providers.url
    assert push["claims"]["sub"].startswith("mailto:")
    now = int(full_scenario.clock.now().timestamp())
    assert now < push["claims"]["exp"] <= now + 24 * 3600
    assert push["headers"]["topic"] == push["notificationId"].replace("-", "")
    assert (push["headers"]["urgency"], int(push["headers"]["ttl"])) == ("normal", 86_400)
    assert b"Kitchen" not in providers.browser.raw[0]
    # One delivery for the device, with its id as recipient, and one mail.
    [pushed] = [row for row in await full_scenario.deliveries() if row["channel"] == "push"]
    [device] = await full_scenario.fetch("SELECT id FROM user_devices")
    assert (pushed["recipient"], pushed["status"]) == (str(device["id"]), "sent")
    assert await full_scenario.channel_statuses() == {"push": "sent", "email": "sent"}


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
async def test_a_dead_device_is_removed_without_an_alert(
    full_scenario: Scenario, providers: Providers, kind: str, fault
) -> None:
    await full_scenario.project_users()
    if kind == "web":
        subscription = providers.browser.subscription(f"{providers.url}/push/web/browser-2")
        await full_scenario.register(full_scenario.buyer_id, kind="web", subscription=subscription)
        providers.browser.faults.append(fault)
    else:
        await full_scenario.register(full_scenario.buyer_id, kind=kind, token="token-of-a-phone")
        providers.native_faults.append(JSONResponse(fault, 404))
    await full_scenario.receive(full_scenario.dispatched())
    await full_scenario.send_queued()
    assert await full_scenario.fetch("SELECT 1 FROM user_devices") == []
    assert await full_scenario.channel_statuses() == {"push": "failed", "email": "sent"}
    assert await full_scenario.published("operations.alert_raised.v1") == []


async def test_an_app_push_uses_a_cached_access_token(full_scenario: Scenario, providers: Providers) -> None:
    await full_scenario.project_users()
    await full_scenario.register(full_scenario.buyer_id, kind="android", token="token-of-a-phone")
    await full_scenario.receive(full_scenario.dispatched())
    providers.native_faults.append(JSONResponse({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, 429))
    await full_scenario.send_queued()
    assert (await full_scenario.channel_statuses())["push"] == "queued"
    await full_scenario.retry_queued()
    [push] = providers.native
    assert push["authorization"] == "Bearer token-1"
    assert push["message"]["token"] == "token-of-a-phone"
    assert push["message"]["notification"]["title"] == "Order on its way"
    assert push["message"]["android"]["ttl"] == "86400s"
    # The access token is cached for an hour: two calls need one assertion.
    [assertion] = providers.assertions
    claims = jwt.decode(assertion, options={"verify_signature": False})
    assert claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
    assert (await full_scenario.channel_statuses())["push"] == "sent"


async def test_the_messaging_app_gets_an_approved_template_after_an_opt_in(
    full_scenario: Scenario, providers: Providers
) -> None:
    await full_scenario.project_users()
    await full_scenario.project_order()
    channels = dict.fromkeys(("push", "messaging", "sms", "email"), True)
    assert (await full_scenario.set_preferences(full_scenario.buyer_id, channels=channels)).is_success
    await full_scenario.receive(full_scenario.held())
    await full_scenario.send_queued()
    [message] = providers.approved
    assert message["authorization"] == "Bearer token-of-the-app"
    assert (message["to"], message["template"]["name"]) == ("2348030000001", "order_confirmation")
    assert message["template"]["language"] == {"code": "en"}
    [body] = message["template"]["components"]
    assert [one["text"] for one in body["parameters"]][2:] == ["Ada's Kitchen", "₦5,300.00"]
    [delivery] = [row for row in await full_scenario.deliveries() if row["channel"] == "messaging"]
    assert message["biz_opaque_callback_data"] == str(delivery["id"])
    # The vendor has no preference: mail only.
    assert len(providers.mails) == 2


async def test_statuses_climb_and_late_lower_ones_change_nothing(full_scenario: Scenario, providers: Providers) -> None:
    await full_scenario.project_users()
    await full_scenario.receive(full_scenario.pin())
    with pytest.raises(MessageUnknown):
        await record_status(full_scenario, "sms", "sms-1", "delivered")
    await full_scenario.send_queued()
    changed = [
        await record_status(full_scenario, "sms", "sms-1", status)
        for status in ("delivered", "sent", "delivered", "failed")
    ]
    assert changed == [True, False, False, False]
    assert await record_status(full_scenario, "sms", "sms-1", "read") is True
    assert await full_scenario.channel_statuses() == {"sms": "read"}
    [attempt] = await full_scenario.attempts()
    assert attempt["status"] == "read"
    settled = await full_scenario.published("notifications.delivery_settled.v1")
    assert [event["status"] for event in settled] == ["sent", "delivered", "read"]
    assert await full_scenario.published("operations.alert_raised.v1") == []


async def test_a_status_with_our_delivery_id_settles_an_unrecorded_attempt(
    full_scenario: Scenario, providers: Providers
) -> None:
    await full_scenario.project_users()
    await full_scenario.receive(full_scenario.pin())
    [delivery] = await full_scenario.deliveries()
    dead = new_id()
    await full_scenario.fetch(
        "WITH d AS (UPDATE notification_deliveries SET channel = 'messaging' RETURNING *) "
        "INSERT INTO notification_delivery_logs (id, delivery_id, notification_id, user_id, channel, template, "
        "recipient, "
        "status, attempted_at) SELECT $1, id, notification_id, NULL, channel, template, 'x', 'unknown', created_at "
        "FROM d RETURNING 1",
        dead,
    )
    assert await record_status(full_scenario, "messaging", "wamid.9", "delivered", delivery["id"]) is True
    assert await full_scenario.channel_statuses() == {"messaging": "delivered"}
    await full_scenario.send_queued()
    assert providers.approved == []


def termii(message_id, status, key=RECEIPT_KEY):
    raw = json.dumps({"message_id": message_id, "status": status, "message": "Your PIN is 042917"}).encode()
    return raw, {"X-Termii-Signature": hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()}


async def test_receipts_of_both_providers_need_the_key(full_scenario: Scenario, providers: Providers) -> None:
    await full_scenario.project_users()
    await full_scenario.receive(full_scenario.pin())
    await full_scenario.send_queued()
    client, path = full_scenario.client, "/functions/v1/sms-receipts"
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
    assert await full_scenario.send_queued() == 0
    raw, headers = termii("sms-1", "Message Sent")
    assert (await client.post(f"{path}/termii", content=raw, headers=headers)).json()["data"] == {"received": True}
    # The response of the provider reported this status already.
    assert await full_scenario.send_queued() == 0
    assert await full_scenario.channel_statuses() == {"sms": "sent"}
    key = urlencode({"key": RECEIPT_KEY})
    assert (await client.post(f"{path}/africas-talking?{key}", content=form)).status_code == 200
    await full_scenario.send_queued()
    assert await full_scenario.channel_statuses() == {"sms": "delivered"}


async def test_the_fallback_sms_provider_sends_after_a_failure(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(sms_fallback_api_url=f"{providers.url}/second") as scenario:
        await scenario.project_users()
        await scenario.receive(scenario.pin())
        providers.sms_faults.append(JSONResponse({"message": "down for maintenance"}, 503))
        await scenario.send_queued()
        [form] = providers.forms
        assert (form["to"], "042917" in form["message"]) == ("+2348030000001", True)
        assert providers.texts == []
        assert [(one["provider"], one["status"]) for one in await scenario.attempts()] == [
            ("sms-http", "failed"),
            ("sms-http-fallback", "sent"),
        ]
        # The second provider rejects the number for good: no retry.
        await scenario.receive(scenario.pin(issue=2))
        rejected = {"SMSMessageData": {"Recipients": [{"statusCode": 403, "status": "InvalidPhoneNumber"}]}}
        providers.sms_faults.append(JSONResponse({}, 503))
        providers.form_faults.append(JSONResponse(rejected, 201))
        await scenario.send_queued()
        assert await scenario.delivery_statuses() == ["sent", "failed"]


async def test_messages_of_a_paused_provider_use_no_attempt(open_scenario: OpenScenario, providers: Providers) -> None:
    async with open_scenario(provider_failures_max=2, provider_rest_seconds=30) as scenario:
        await scenario.project_users()
        providers.sms_down = True
        for _ in range(2):
            await scenario.receive(scenario.pin(issue=_ + 1))
            await scenario.send_queued()
        [alert] = await scenario.published("operations.alert_raised.v1")
        assert alert["dedupKey"] == "provider-rests:sms-http"
        await scenario.receive(scenario.pin("583016", issue=3))
        await scenario.receive(scenario.dispatched())
        await scenario.send_queued()
        # The mail is sent in the meantime; the text message has used no attempt.
        assert len(providers.mails) == 1
        waiting = [row for row in await scenario.deliveries() if row["due_at"] is not None]
        assert [(row["channel"], row["attempts"]) for row in waiting] == [("sms", 0)]
        providers.sms_down = False
        clock = scenario.clock
        assert await scenario.send_queued() == 0
        clock.advance(timedelta(seconds=31))
        assert await scenario.send_queued() == 1
        assert ["583016" in text["sms"] for text in providers.texts] == [True]


async def test_a_pin_without_a_receipt_falls_back_to_the_next_channel(
    full_scenario: Scenario, providers: Providers
) -> None:
    await full_scenario.project_users()
    await full_scenario.register(full_scenario.buyer_id, kind="android", token="token-of-a-phone")
    channels = dict.fromkeys(("push", "messaging", "sms", "email"), False)
    await full_scenario.set_preferences(full_scenario.buyer_id, channels=channels)
    clock = full_scenario.clock
    await full_scenario.receive(full_scenario.pin())
    await full_scenario.send_queued()
    assert await advance_pins_once(full_scenario.app.dependencies) == 0
    clock.advance(PIN_RECEIPT)
    assert await advance_pins_once(full_scenario.app.dependencies) == 1
    assert await advance_pins_once(full_scenario.app.dependencies) == 0
    await full_scenario.send_queued()
    [message] = providers.approved
    # An authentication template: the code in its text and in the button that copies it.
    body, button = message["template"]["components"]
    assert body["parameters"] == button["parameters"] == [{"type": "text", "text": "042917"}]
    assert (button["type"], button["sub_type"], button["index"]) == ("button", "url", "0")
    # The provider reports a failure: the next channel is due at once.
    assert await record_status(full_scenario, "messaging", "wamid.1", "failed") is True
    assert await advance_pins_once(full_scenario.app.dependencies) == 1
    await full_scenario.send_queued()
    [push] = providers.native
    assert "notification" not in push["message"]
    assert "042917" in push["message"]["data"]["body"]
    clock.advance(PIN_RECEIPT)
    assert await advance_pins_once(full_scenario.app.dependencies) == 0
    assert (len(providers.texts), len(providers.approved), len(providers.native)) == (1, 1, 1)
    # Staff read the status of each channel, and no PIN.
    logs = await full_scenario.client.get(
        "/api/notification-delivery-logs", headers=full_scenario.headers(new_id(), roles=["auditor"])
    )
    assert {one["channel"]: one["status"] for one in logs.json()["data"]} == {
        "sms": "sent",
        "messaging": "failed",
        "push": "sent",
    }
    assert "042917" not in without_random_values(logs.text)


@pytest.mark.parametrize("reason", ["receipt", "newer", "used"])
async def test_a_received_or_closed_pin_has_no_fallback(
    full_scenario: Scenario, providers: Providers, reason: str
) -> None:
    await full_scenario.project_users()
    await full_scenario.receive(full_scenario.pin())
    await full_scenario.send_queued()
    if reason == "receipt":
        await record_status(full_scenario, "sms", "sms-1", "delivered")
    elif reason == "newer":
        await full_scenario.receive(full_scenario.pin("583016", issue=2))
        await full_scenario.send_queued()
        await record_status(full_scenario, "sms", "sms-2", "delivered")
        await full_scenario.receive(full_scenario.pin(issue=1))
    else:
        await full_scenario.receive(full_scenario.delivered())
        await full_scenario.receive(full_scenario.pin(issue=2))
    await full_scenario.send_queued()
    full_scenario.clock.advance(PIN_RECEIPT)
    assert await advance_pins_once(full_scenario.app.dependencies) == 0
    assert providers.approved == []
    assert len(providers.texts) == (2 if reason == "newer" else 1)
    if reason != "receipt":
        [first, *_] = [row for row in await full_scenario.deliveries() if row["channel"] == "sms"]
        assert first["sealed"] == {}


async def test_concurrent_timers_advance_a_pin_once(full_scenario: Scenario, providers: Providers) -> None:
    await full_scenario.project_users()
    await full_scenario.receive(full_scenario.pin())
    await full_scenario.send_queued()
    full_scenario.clock.advance(PIN_RECEIPT)
    advanced = await asyncio.gather(*(advance_pins_once(full_scenario.app.dependencies) for _ in range(5)))
    assert sum(advanced) == 1
    await full_scenario.send_queued()
    assert len(providers.approved) == 1


async def test_quiet_hours_delay_no_pin_and_no_security_notice(full_scenario: Scenario, providers: Providers) -> None:
    await full_scenario.project_users()
    clock = full_scenario.clock
    preferences = {
        "channels": {"push": True, "messaging": False, "sms": True, "email": True},
        # It is 01:00 in Lagos, and the quiet hours span midnight.
        "quietHours": {"from": "22:00", "to": "07:30"},
    }
    for user_id in (full_scenario.buyer_id, full_scenario.owner_id):
        response = await full_scenario.set_preferences(user_id, **preferences)
        assert response.json()["data"]["quietHours"] == {"from": "22:00", "to": "07:30", "timezone": "Africa/Lagos"}
    await full_scenario.receive(full_scenario.dispatched())
    await full_scenario.receive(full_scenario.pin())
    await full_scenario.receive(BankDetailsChanged(vendor_id=full_scenario.vendor_id, last4="6785", bank_code="058"))
    await full_scenario.send_queued()
    assert (len(providers.texts), [mail["To"] for mail in providers.mails]) == (1, ["ada@unilag.edu.ng"])
    clock.advance(timedelta(hours=6, minutes=29))
    assert await full_scenario.send_queued() == 0
    clock.advance(timedelta(minutes=1))
    assert await full_scenario.send_queued() == 1
    assert [mail["To"] for mail in providers.mails] == ["ada@unilag.edu.ng", "chidi@unilag.edu.ng"]


async def test_mails_share_one_connection_and_a_lost_one_is_opened_again(
    scenario: Scenario, providers: Providers
) -> None:
    await scenario.project_users(phone=None)
    for issue in (1, 2):
        await scenario.receive(scenario.pin(issue=issue))
        await scenario.send_queued()
    assert providers.mail_connections == 1
    providers.close_mail_connections()
    await scenario.receive(scenario.pin(issue=3))
    await scenario.send_queued()
    assert (len(providers.mails), providers.mail_connections) == (3, 2)


async def test_staff_resend_once_for_each_key(full_scenario: Scenario, providers: Providers) -> None:
    await full_scenario.project_users()
    await full_scenario.receive(full_scenario.pin())
    await full_scenario.receive(full_scenario.dispatched())
    await full_scenario.send_queued()
    attempts = {row["channel"]: row["id"] for row in await full_scenario.attempts()}
    support = new_id()

    async def resend(log_id, key=None, roles=("support_agent",)):
        headers = full_scenario.headers(support, idempotency_key=key, roles=list(roles))
        return await full_scenario.client.post(f"/api/notification-delivery-logs/{log_id}/resend", headers=headers)

    assert (await resend(attempts["sms"], roles=("auditor",))).status_code == 403
    assert (await resend(new_id())).status_code == 404
    key = new_id()
    assert (await resend(attempts["email"], key)).json()["data"]["status"] == "queued"
    assert (await resend(attempts["email"])).status_code == 409
    await full_scenario.send_queued()
    assert (await resend(attempts["email"], key)).json()["data"]["status"] == "sent"
    assert await full_scenario.send_queued() == 0
    assert len(providers.mails) == 2
    assert (await resend(attempts["sms"])).status_code == 200
    await full_scenario.send_queued()
    assert ["042917" in text["sms"] for text in providers.texts] == [True, True]
    await full_scenario.receive(full_scenario.delivered())
    assert (await resend(attempts["sms"])).status_code == 409
    requested = await full_scenario.fetch("SELECT asked_by FROM notification_resends")
    assert [row["asked_by"] for row in requested] == [support, support]
    own = await own_actions_of(full_scenario.client, full_scenario.headers(support, roles=["support_agent"]))
    assert set(own) == {("message_resent", str(attempts[name])) for name in ("email", "sms")}
    [sms] = [row for row in await full_scenario.deliveries() if row["channel"] == "sms"]
    assert sms["status"] == "sent"


@pytest.mark.parametrize(
    "address", ["https://169.254.169.254/x", "https://localhost.example.com/x", "https://xn--a.com/x"]
)
async def test_a_push_into_our_own_network_is_never_sent(
    full_scenario: Scenario, providers: Providers, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """The address is checked again before each call: its form, and the IP address of its name."""
    requested = []

    def resolved(host, port, **_):
        requested.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    await full_scenario.project_users()
    subscription = providers.browser.subscription("https://push.example.com/x")
    await full_scenario.register(full_scenario.buyer_id, kind="web", subscription=subscription)
    await full_scenario.fetch("UPDATE user_devices SET address = $1 RETURNING 1", address)
    await full_scenario.receive(full_scenario.dispatched())
    monkeypatch.setattr("notifications.clients.outbound.socket.getaddrinfo", resolved)
    await full_scenario.send_queued()
    assert await full_scenario.channel_statuses() == {"push": "failed", "email": "sent"}
    assert providers.browser.received == []
    assert ("localhost.example.com" in requested) == ("localhost" in address)


async def test_deliver_notification_sends_by_all_four_channels(full_scenario: Scenario, providers: Providers) -> None:
    await full_scenario.project_users()
    await full_scenario.register(full_scenario.buyer_id, kind="ios", token="token-1")
    await full_scenario.register(full_scenario.buyer_id, kind="android", token="token-2")
    providers.native_faults.append(Response(status_code=400))
    for channel in ("push", "messaging", "sms", "email"):
        notification_id = str(new_id())
        first = await full_scenario.request_delivery(channel, "order_confirmation", notificationId=notification_id)
        assert (first.status_code, first.json()["data"]["status"]) == (200, "queued")
        await full_scenario.send_queued()
        again = await full_scenario.request_delivery(channel, "order_confirmation", notificationId=notification_id)
        # One of two devices failed: the other one counts.
        assert again.json()["data"]["status"] == "sent"
        assert again.json()["data"]["providerMessageId"]
    assert await eventually(lambda: (len(providers.native), len(providers.approved)) == (1, 1))
