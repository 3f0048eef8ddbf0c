"""Record a delivery status that a provider reported."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability import telemetry
from notifications.deliveries.domain.errors import MessageUnknown
from notifications.deliveries.domain.messaging_errors import PROVIDER, MessagingError, classify_error
from notifications.deliveries.domain.statuses import ATTEMPT, DELIVERY, LOST, Status
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.store import statuses
from notifications.deliveries.store.deliveries import (
    LockedDelivery,
    lock_delivery,
    lock_reported_delivery,
    log_claim,
)
from notifications.deliveries.use_cases.deliveries.publish_delivery_lost import publish_delivery_lost
from notifications.deliveries.use_cases.deliveries.publish_delivery_settled import publish_delivery_settled
from notifications.deliveries.use_cases.deliveries.resume_provider import resume_provider
from notifications.deliveries.use_cases.deliveries.retry_reported_failure import retry_reported_failure


@dataclass(frozen=True, slots=True)
class StatusReport:
    """A provider's report of a message, at its time.

    `delivery_id` is our id where the provider repeats it; `error` is its reason of a failure, `failure` that of the
    messaging app.
    """

    channel: str
    provider_message_id: str
    status: Status
    at: datetime
    delivery_id: UUID | None = None
    error: str = ""
    failure: MessagingError | None = None


async def record_delivery_status(uow: UnitOfWork, report: StatusReport, now: datetime | None = None) -> bool:
    """Advance the attempt and its delivery; return whether the status was new (contract sections 9 and 12).

    A failure of the messaging app may pass: then the message is queued again. A failed attempt that was followed by
    another one does not change the delivery. With our id an acceptance is recorded before the worker records it,
    because the worker may have died. Raises MessageUnknown before the message id is recorded.
    """
    channel, status, failure = report.channel, report.status, report.failure
    provider_message_id, delivery_id = report.provider_message_id, report.delivery_id
    delivery = await _lock_delivery(uow, report)
    attempt = None if delivery is None else await statuses.find_reported_attempt(uow, delivery.id, provider_message_id)
    if delivery is None or attempt is None:
        raise MessageUnknown
    if attempt.status == "sending" and (status in LOST or delivery_id is None):
        raise MessageUnknown
    if channel == "messaging" and status not in LOST:
        await resume_provider(uow, PROVIDER, attempt.attempted_at)
    if not ATTEMPT.allows(attempt.status, status):
        telemetry.STALE_EVENTS.labels("delivery_status").inc()
        return False
    advanced = (status, report.at, provider_message_id, report.error)
    is_overtaken = status in LOST and (not attempt.is_newest or delivery.status == "queued")
    if is_overtaken or not DELIVERY.allows(delivery.status, status):
        await statuses.save_attempt_status(uow, attempt.id, *advanced)
        return True
    if failure is None:
        await statuses.save_both_statuses(uow, attempt.id, delivery.id, *advanced)
    else:
        await statuses.save_attempt_status(uow, attempt.id, *advanced)
        if await retry_reported_failure(uow, delivery, failure, now or report.at):
            return True
        await statuses.save_delivery_status(uow, delivery.id, status, provider_message_id)
    if status in LOST:
        reason = f"the provider reported that it was not delivered: {report.error}".removesuffix(": ")
        publish_delivery_lost(uow, delivery, reason, status, alert=_is_alerted(delivery, failure))
    else:
        publish_delivery_settled(uow, delivery, status)
    return True


async def _lock_delivery(uow: UnitOfWork, report: StatusReport) -> LockedDelivery | None:
    """Lock the reported delivery, found by the provider's message id or by ours; with ours its claim is logged."""
    delivery, delivery_id = (
        await lock_reported_delivery(uow, report.channel, report.provider_message_id),
        report.delivery_id,
    )
    if delivery_id is None:
        return delivery
    if delivery is None and await statuses.is_delivery_of(uow, delivery_id, report.channel):
        delivery = await lock_delivery(uow, delivery_id)
    if delivery is not None and delivery.claim_id is not None:
        await log_claim(uow, delivery)
    return delivery


def _is_alerted(delivery: LockedDelivery, failure: MessagingError | None) -> bool:
    """Return a lost message raises an alert, except one that only its recipient can receive again, or during a pause; a
    lost PIN or code always does."""
    is_expected = failure is not None and classify_error(failure) in ("recipient", "account")
    return CATALOG[delivery.template].sensitive or not is_expected
