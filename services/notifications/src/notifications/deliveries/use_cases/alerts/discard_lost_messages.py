"""Discard the messages of an alert about lost messages."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.problems import NotFound
from notifications.deliveries.domain.alerts import DELIVERY_LOST
from notifications.deliveries.domain.errors import AlertClosed, AlertNotDiscardable
from notifications.deliveries.store import alerts

log = get_logger(__name__)


async def discard_lost_messages(uow: UnitOfWork, alert_id: UUID, user_id: UUID, reason: str, now: datetime) -> None:
    """Close the alert with the reason for which its messages are not needed. Their attempts stay, and each can still be
    sent again.

    A repetition with the same reason has no effect. Raises NotFound, AlertNotDiscardable, and AlertClosed for one that
    was closed otherwise.
    """
    alert = await alerts.lock_alert(uow, alert_id)
    if alert is None:
        raise NotFound
    if not alert.dedup_key.startswith(DELIVERY_LOST):
        raise AlertNotDiscardable
    if alert.closed_at is not None:
        if (alert.closed_by, alert.close_reason) != (user_id, reason):
            raise AlertClosed
        return
    await alerts.save_alert_closed_by(uow, alert_id, now, user_id, reason)
    alerts.enqueue_page(uow, alert_id)
    log.info("lost messages discarded", dedup_key=alert.dedup_key, closed_by=str(user_id))
