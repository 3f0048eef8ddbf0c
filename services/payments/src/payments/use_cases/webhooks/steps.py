"""Steps of webhooks that several operations share."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.outbox import OutboxRow
from common.database.unit_of_work import Database, UnitOfWork
from common.messaging.dead_letters import webhook_alert_key
from common.observability.logging import get_logger
from common.primitives.clock import iso
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payments.clients.gateway import GatewayEvents, GatewayRejected, PaymentGateway
from payments.domain.identifiers import attempt_of_reference
from payments.domain.reconciliation import Difference
from payments.domain.revisions import REVISIONS_STORED_MAX, GatewaySubject, QueriedEvent, changed_fields, next_query_at
from payments.domain.transfers import TransferOutcome, TransferUpdate
from payments.domain.webhooks import Arrival, content_hash_of
from payments.store import revisions
from payments.store.webhooks import list_dead_letter_ids, record_webhook_if_new
from payments.use_cases.alerts import alert_revised_webhook, clear_alert
from providers.gateways import GatewayName

# Returns when the row of the outbox is on the disk, which it may not be before. Raises DatabaseUnavailable.
ProcessFiled = Callable[[OutboxRow], Awaitable[None]]


async def file_webhook(
    database: Database,
    gateway: GatewayName,
    arrival: Arrival,
    raw: bytes,
    *,
    is_json: bool,
    process: ProcessFiled | None = None,
) -> bool:
    """Return whether the key is new. Its work item is then passed to `process`, or to the relay; it is durable then."""
    is_durable = process is None
    work = await record_webhook_if_new(database, gateway, arrival, raw, is_json=is_json, is_durable=is_durable)
    if work is None:
        return False
    if process is None:
        database.handover.add([work])
    else:
        await process(work)
    return True


async def file_gateway_response(database: Database, gateway: GatewayName, event: QueriedEvent) -> bool:
    """Return whether the response is new. A response of the same content is processed once.

    Its key differs from every webhook's, so that the webhook itself is still filed when it arrives.
    """
    return await file_webhook(database, gateway, event.arrival, event.raw, is_json=True)


log = get_logger(__name__)


async def process_missing_webhook(database: Database, gateway: PaymentGateway, found: Difference) -> bool:
    """Return whether a response was filed. A later webhook is filed under its own key, and changes nothing.

    After a rejected query its case stays open. Raises GatewayUnavailable.
    """
    subject = _subject_of(found)
    if subject is None:
        return False
    try:
        event = await gateway.find_event(subject)
    except GatewayRejected as rejection:
        log.warning("missing webhook cannot be fetched", subject=found.subject, error=str(rejection))
        return False
    if event is None or not event.moved_money:
        return False
    is_first = await file_gateway_response(database, gateway.name, event)
    if is_first:
        log.warning("webhook missing, state fetched from the gateway", subject=found.subject)
    return is_first


def _subject_of(found: Difference) -> GatewaySubject | None:
    key = found.subject.partition(":")[2]
    if found.kind == "charge_not_in_book" and found.reference is not None:
        return GatewaySubject("charge", key)
    if found.kind == "refund_not_in_book" and attempt_of_reference(key) is None:
        return GatewaySubject("refund", key)
    return None


_EVENTS: Final[Mapping[TransferOutcome, type[TransferSucceeded | TransferFailed | TransferReversed]]] = {
    "success": TransferSucceeded,
    "failed": TransferFailed,
    "reversed": TransferReversed,
}


def publish_transfer_update(uow: UnitOfWork, webhook_id: str, update: TransferUpdate, arrived_at: datetime) -> None:
    """Publish a decided transfer. The time is the gateway's, else that of the arrival."""
    uow.publish(
        _EVENTS[update.outcome](
            reference=update.reference,
            transfer_code=update.transfer_code,
            amount_minor=update.amount_minor,
            currency=update.currency,
            status=update.status,
            gateway_event_id=webhook_id,
            occurred_at=iso(update.occurred_at or arrived_at),
            reason=update.reason,
            account_last4=update.account_last4,
            bank_code=update.bank_code,
            fee_minor=update.fee_minor,
        )
    )


async def clear_dead_webhook(uow: UnitOfWork, webhook_id: str, reason: str) -> None:
    """Clear the alert of a webhook that was processed or closed. An earlier release raised one for each failure."""
    for dead_letter_id in await list_dead_letter_ids(uow, webhook_id):
        clear_alert(uow, webhook_alert_key(dead_letter_id), reason)


async def record_revision(
    database: Database, events: GatewayEvents, arrival: Arrival, first: bytes, raw: bytes, now: datetime
) -> bool:
    """Return whether the content is new under this key. Bytes, count, alert and the due query commit together.

    Alerts and stored bytes are bounded for each key. A revision beyond the bound is counted, and still schedules a
    query.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        revised = await revisions.lock_revised_webhook(uow, arrival.id, now)
        content_hash = content_hash_of(raw)
        if await revisions.revision_is_known(uow, arrival.id, content_hash):
            return False
        is_stored = revised.stored < REVISIONS_STORED_MAX
        if is_stored:
            await revisions.record_revision(uow, arrival.id, content_hash, raw, now)
            alert_revised_webhook(uow, arrival, changed_fields(first, raw))
        due_at = revised.due_at
        if events.subject_of(arrival.event_type, raw) or events.subject_of(arrival.event_type, first):
            due_at = next_query_at(now, revised.queried_at, due_at)
        await revisions.save_revised_webhook(uow, arrival.id, revised.stored + is_stored, due_at, now)
    return True
