"""Faults of messages: events of the broker, texts to people, webhooks."""

import asyncio
import json
import time
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

import aio_pika
import httpx

from contracts.orders import SavedProductChanged
from contracts.payments import EscrowReleased
from contracts.topology import EVENTS_EXCHANGE
from operations.campusctl.exits import Refused
from operations.drills.scene import Scene
from operations.journey import Marketplace, StepFailed
from operations.provision import service_broker_url
from operations.services import service_named

_FOUND_SECONDS_MAX: Final = 60.0
_BROKER_SECONDS_MAX: Final = 15.0
_GATEWAY_SECONDS_MAX: Final = 5.0
_DEAD_LETTERS: Final = "/api/dead-letters/notifications"
_WEBHOOK: Final = "/functions/v1/gateway-webhook"


def plant_malformed_event(scene: Scene) -> None:
    """Publish an event as orders that lacks its fields. Notifications alone subscribes to it, without money."""
    known = scene.operator.own.secrets()
    url = service_broker_url(known["BROKER_URL"], service_named("orders"), known)
    kind = SavedProductChanged.TYPE
    _publish(scene, url, kind, "orders", exchange=EVENTS_EXCHANGE, key=kind, account="orders")


def plant_forged_message(scene: Scene) -> None:
    """Put a message into a queue of notifications that names payments and was not published by it."""
    url = scene.operator.own.broker_administrator()
    _publish(scene, url, EscrowReleased.TYPE, "payments", exchange="", key="notifications.orders", account=None)


def close_dead_letter(scene: Scene) -> None:
    """Close the dead letter unless staff did."""
    if (event_id := scene.facts.get("eventId")) is None:
        return
    if (dead_letter_id := scene.subject or _dead_letter_of(scene, event_id)) is not None:
        scene.act(f"{_DEAD_LETTERS}/{dead_letter_id}/close", {"reason": "The message of a drill, which has no effect."})


def plant_rejected_account(scene: Scene) -> None:
    """Let the SMS company reject our account, and request a code by SMS."""
    scene.plant_fault(sms={"fail": "InsufficientBalance"})
    request_code(scene)


def request_code(scene: Scene) -> None:
    """Request a code by SMS for the number of a demo buyer: the company accepts or rejects the message."""

    async def request(market: Marketplace) -> None:
        market.patient = False
        buyer = await market.sign_in("buyer@unilag.edu.ng")
        profile = await market.get("/api/profiles/current", buyer)
        try:
            await market.post("/api/auth/otp", {"phone": profile["phone"]}, buyer)
        except StepFailed as refusal:
            # Too many codes for this number: the next attempt is a minute later.
            if refusal.status != HTTPStatus.TOO_MANY_REQUESTS:
                raise

    scene.in_marketplace(request)


def send_unsigned_webhook(scene: Scene) -> None:
    """Send a webhook with a wrong signature, as an attacker does."""
    body = json.dumps({"event": "charge.success", "data": {"id": uuid4().int % 2**40}})
    headers = {"x-gateway-signature": "0" * 128, "Content-Type": "application/json"}
    try:
        httpx.post(
            f"{scene.operator.base_url}{_WEBHOOK}",
            content=body,
            headers=headers,
            timeout=_GATEWAY_SECONDS_MAX,
            trust_env=False,
        )
    except httpx.HTTPError as error:
        raise Refused(f"The gateway did not answer the webhook: {type(error).__name__}.") from None


def _publish(
    scene: Scene, url: str, kind: str, publisher: str, *, exchange: str, key: str, account: str | None
) -> None:
    event_id = str(uuid4())
    event: dict[str, Any] = {
        "specversion": "1.0", "id": event_id, "source": f"/services/{publisher}", "type": kind,
        "subject": str(uuid4()), "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "datacontenttype": "application/json", "sequence": 1, "data": {},
    }  # fmt: skip
    message = aio_pika.Message(json.dumps(event).encode(), message_id=event_id, type=kind, user_id=account)
    scene.remember(eventId=event_id)

    async def publish() -> None:
        async with asyncio.timeout(_BROKER_SECONDS_MAX), await aio_pika.connect(url) as connection:
            channel = await connection.channel()
            target = await channel.get_exchange(exchange, ensure=False) if exchange else channel.default_exchange
            await target.publish(message, key)

    try:
        asyncio.run(publish())
    except (OSError, TimeoutError, aio_pika.exceptions.AMQPError) as error:
        # No text of the error: the address holds a password.
        raise Refused(f"The broker did not accept the message: {type(error).__name__}.") from None
    deadline = time.monotonic() + _FOUND_SECONDS_MAX
    while (dead_letter_id := _dead_letter_of(scene, event_id)) is None:
        if time.monotonic() > deadline:
            raise Refused("The message is in no dead letter after a minute.", "Does notifications run?")
        time.sleep(1)
    scene.remember(subject=dead_letter_id)


def _dead_letter_of(scene: Scene, event_id: str) -> str | None:
    try:
        return str(scene.operator.api.get(f"{_DEAD_LETTERS}/{event_id}").data["id"])
    except Refused as refused:
        if refused.status != httpx.codes.NOT_FOUND:
            raise
        return None
