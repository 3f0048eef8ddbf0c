"""Queue a message again that the messaging app accepted and then reported as failed."""

from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.messaging_errors import PROVIDER, MessagingError, classify_error
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.store.deliveries import LockedDelivery
from notifications.deliveries.store.statuses import requeue_as_template, requeue_failed
from notifications.deliveries.use_cases.deliveries.hold_delivery import HELD_MAX
from notifications.deliveries.use_cases.deliveries.pause_provider import pause_provider

# A limit of the app lasts minutes to hours.
THROTTLED_FOR: Final = timedelta(minutes=5)
# Calls of one message. A repeated failure after so many is not one that passes.
_ATTEMPTS_MAX: Final = 10


async def retry_reported_failure(
    uow: UnitOfWork, delivery: LockedDelivery, error: MessagingError, now: datetime
) -> bool:
    """Queue the message for later, or a free text as its approved template; return False for a final failure.

    A fault of our account pauses the provider. A PIN or code is never queued again: its next channel follows. The
    address of an erased user is deleted.
    """
    error_class = classify_error(error)
    due_at = now + THROTTLED_FOR
    if error_class == "account":
        due_at = await pause_provider(uow, PROVIDER, error.summary, now)
    if delivery.recipient.startswith("erased:"):
        return False
    if error_class == "window" and "messageId" in delivery.payload:
        await requeue_as_template(uow, delivery.id, now)
        return True
    is_fresh = delivery.attempts < _ATTEMPTS_MAX and now - delivery.created_at < HELD_MAX
    if error_class not in ("account", "throttled") or CATALOG[delivery.template].sensitive or not is_fresh:
        return False
    await requeue_failed(uow, delivery.id, due_at)
    return True
