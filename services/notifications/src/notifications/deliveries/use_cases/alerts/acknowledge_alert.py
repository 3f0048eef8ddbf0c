"""Acknowledge an alert."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.errors import AlertClosed
from notifications.deliveries.queries.alerts import get_alert_detail
from notifications.deliveries.store import alerts


async def acknowledge_alert(uow: UnitOfWork, alert_id: UUID, user_id: UUID, now: datetime) -> None:
    """Record that the user works on an open alert, which is then not escalated, and acknowledge it at the
    receiver; without an assignee it is theirs.

    A repetition has no effect. Raises NotFound, and AlertClosed for one that closed before.
    """
    if await alerts.save_acknowledged(uow, alert_id, user_id, now):
        await alerts.record_action(uow, alert_id, alerts.AlertAction("acknowledged"), user_id, now)
        alerts.enqueue_acknowledgement(uow, alert_id)
    elif (await get_alert_detail(uow, alert_id)).acknowledged_at is None:
        raise AlertClosed
