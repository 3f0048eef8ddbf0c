"""Process one message or status of the messaging app."""

from datetime import datetime
from typing import Final, cast
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.encryption import Encryptor
from common.primitives.ids import parse_uuid
from common.primitives.json_records import read_record
from notifications.deliveries import LOST, MessagingError, Status, StatusReport, address_of, record_delivery_status
from notifications.support.domain.errors import WebhookUnknown
from notifications.support.domain.messaging_webhook import StoredMessage, StoredStatus
from notifications.support.domain.tickets import reported_instant
from notifications.support.store import messaging
from notifications.support.use_cases.messaging.reply_to_cart import reply_to_cart
from notifications.support.use_cases.tickets.record_customer_message import (
    CustomerMessage,
    PhoneHasher,
    record_customer_message,
)

log: Final = get_logger(__name__)

CHANNEL: Final = "messaging"


async def process_messaging_item(
    uow: UnitOfWork, item_id: str, phone_hasher: PhoneHasher, encryptor: Encryptor, now: datetime
) -> str:
    """Process the item once and return its outcome. An item without sender or recorded status is `ignored` and counted.

    Raises MessageUnknown for a status that arrives before the message id is committed.
    """
    item = await messaging.lock_messaging_item(uow, item_id)
    if item is None:
        raise WebhookUnknown
    if item.outcome in ("done", "ignored"):
        return item.outcome
    ticket_id = None
    if item.kind == "message":
        content = read_record(item.content, StoredMessage)
        ticket_id = await _record_message(uow, item_id, content, phone_hasher, encryptor, now)
        outcome = "done" if ticket_id else "ignored"
    else:
        outcome = await _record_status(uow, read_record(item.content, StoredStatus), now)
    if outcome == "ignored":
        telemetry.STALE_EVENTS.labels(f"messaging_{item.kind}").inc()
    await messaging.save_messaging_item(uow, item_id, outcome, ticket_id)
    return outcome


async def _record_message(
    uow: UnitOfWork,
    item_id: str,
    content: StoredMessage,
    phone_hasher: PhoneHasher,
    encryptor: Encryptor,
    now: datetime,
) -> UUID | None:
    address = address_of(content.sender)
    if address is None or not content.text:
        return None
    at = reported_instant(content.at, now)
    message = CustomerMessage(address, content.kind, content.text, at, app_user_id=content.user_id)
    recorded = await record_customer_message(uow, message, phone_hasher, encryptor, now)
    if recorded is None:
        return None
    if content.items:
        await reply_to_cart(uow, item_id, recorded, content.items, now)
    return recorded.ticket_id


async def _record_status(uow: UnitOfWork, content: StoredStatus, now: datetime) -> str:
    if content.id is None or content.status is None:
        return "ignored"
    delivery_id = parse_uuid(content.delivery_id or "")
    status, at = cast("Status", content.status), reported_instant(content.at, now)
    failure = MessagingError(**msgspec.structs.asdict(content.error)) if content.error else None
    if failure is not None:
        log.warning("the messaging app reports an error", delivery_id=str(delivery_id), error=failure.summary)
    report = StatusReport(
        CHANNEL,
        content.id,
        status,
        at,
        delivery_id=delivery_id,
        error=failure.summary if failure else "",
        failure=failure if status in LOST else None,
    )
    is_new = await record_delivery_status(uow, report, now)
    return "done" if is_new else "ignored"
