"""Give one message or status of the messaging app its effect, once."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability import telemetry
from common.primitives.encryption import Encryptor
from common.primitives.ids import parse_uuid
from notifications.domain.errors import WebhookUnknown
from notifications.domain.statuses import Status
from notifications.domain.telephone_numbers import e164_of
from notifications.domain.tickets import reported_instant
from notifications.store import messaging
from notifications.use_cases.deliveries.record_delivery_status import record_delivery_status
from notifications.use_cases.tickets.record_customer_message import Numbers, record_customer_message

CHANNEL: Final = "messaging"


async def process_messaging_item(
    uow: UnitOfWork, item_id: str, numbers: Numbers, sealer: Encryptor, now: datetime
) -> str:
    """The outcome. What says nothing that we record (no sender, a word of the app's own) is ignored and counted.

    Raises MessageUnknown for a status that is faster than our own commit of the message: the ladder brings it again.
    """
    row = await messaging.lock_messaging_item(uow, item_id)
    if row is None:
        raise WebhookUnknown
    if row["outcome"] in ("done", "ignored"):
        return str(row["outcome"])
    ticket_id = None
    if row["kind"] == "message":
        phone = e164_of(str(row["content"]["from"]))
        ticket_id = await record_customer_message(uow, phone, row["content"], numbers, sealer, now) if phone else None
        outcome = "done" if ticket_id else "ignored"
    else:
        outcome = await _record_status(uow, row["content"], now)
    if outcome == "ignored":
        telemetry.STALE_EVENTS.labels(f"messaging_{row['kind']}").inc()
    await messaging.save_messaging_item(uow, item_id, outcome, ticket_id)
    return outcome


async def _record_status(uow: UnitOfWork, told: Mapping[str, Any], now: datetime) -> str:
    if told["id"] is None or told["status"] is None:
        return "ignored"
    delivery_id: UUID | None = parse_uuid(told["deliveryId"] or "")
    status = cast("Status", told["status"])
    at = reported_instant(told["at"], now)
    news = await record_delivery_status(uow, CHANNEL, told["id"], status, at, delivery_id=delivery_id)
    return "done" if news else "ignored"
