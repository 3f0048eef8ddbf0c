"""Messages through the running system: by every channel, with the companies' receipts (contract section 12)."""

import base64
import os
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from campus_tools.launcher.system import System
from operations.journey import Marketplace

from .conftest import Users


def in_base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


async def notices_of(market: Marketplace, user_id, channel):
    """Return the id of an accepted message; None while the user's event has not arrived yet."""
    key = {"Authorization": f"Bearer {market.secrets['SERVICE_ROLE_KEY']}"}
    notice = {"notificationId": str(uuid4()), "userId": user_id, "channel": channel}
    items = [{"name": "Jollof rice", "quantity": 2, "lineTotalMinor": 500_000}]
    order = {"orderId": str(uuid4()), "businessName": "Ada's Kitchen", "items": items}
    data = {**order, "totalMinor": 530_000, "deliveryFeeMinor": 30_000}
    body = {**notice, "template": "order_confirmation", "data": data}
    response = await market.http.post("/functions/v1/deliver-notification", json=body, headers=key)
    assert response.status_code in (200, 404), response.text
    return notice["notificationId"] if response.status_code == 200 else None


async def test_a_message_reaches_a_user_by_every_channel_and_staff_see_how_far_each_got(
    market: Marketplace, users: Users, system: System
) -> None:
    phone = f"+234803{uuid4().int % 10**7:07d}"
    student = await market.sign_up(f"student.{uuid4().hex}@unilag.edu.ng", "Ngozi Eze", phone)
    user_id = (await market.get("/api/profiles/current", student))["id"]
    browser, native = uuid4().hex, f"token-{uuid4().hex}"
    point = ec.generate_private_key(ec.SECP256R1()).public_key()
    keys = {
        "p256dh": in_base64(point.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)),
        "auth": in_base64(os.urandom(16)),
    }
    subscription = {"endpoint": f"{system.sandbox_url}/push/web/{browser}", "keys": keys}
    await market.post("/api/devices", {"kind": "web", "subscription": subscription}, student)
    await market.post("/api/devices", {"kind": "android", "token": native}, student)
    assert [one["kind"] for one in await market.get("/api/devices", student)] == ["android", "web"]
    assert len(base64.urlsafe_b64decode((await market.get("/api/devices/vapid-key"))["publicKey"] + "=")) == 65

    notices = {}
    for channel in ("push", "messaging", "sms", "email"):
        notices[channel] = await market.until(f"{channel} is taken", lambda: notices_of(market, user_id, channel), 60)  # noqa: B023

    async def arrived():
        logs = await market.get("/api/notification-delivery-logs", users.auditor, params={"limit": 100})
        mine = [one for one in logs if one["userId"] == user_id and one["notificationId"] in notices.values()]
        reached = {(one["channel"], one["status"]) for one in mine}
        # The SMS company reports the delivery.
        expected = {("push", "sent"), ("messaging", "sent"), ("sms", "delivered"), ("email", "sent")}
        return mine if expected <= reached and len(mine) == 5 else None

    attempts = await market.until("every channel has its message", arrived, 60)
    assert all(phone not in one["recipient"] and native not in str(one) for one in attempts)
    assert len(await market.messages(native, "push")) == 1
    assert len(await market.messages(browser, "web_push")) == 1
    assert "NGN 5,300.00" in (await market.messages(phone, "sms"))[0]["text"]

    # Support sends the text message again; the same key changes nothing.
    [sms] = [one["id"] for one in attempts if one["channel"] == "sms"]
    path = f"/api/notification-delivery-logs/{sms}/resend"
    assert (await market.post(path, {}, users.support))["status"] == "queued"

    async def twice():
        return True if len(await market.messages(phone, "sms")) == 2 else None

    await market.until("the text message came again", twice, 60)
