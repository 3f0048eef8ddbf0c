"""Assign an alert."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.errors import AlertClosed
from notifications.deliveries.queries.alerts import get_alert_detail
from notifications.deliveries.store import alerts


async def assign_alert(uow: UnitOfWork, alert_id: UUID, assignee_id: UUID | None, user_id: UUID, now: datetime) -> None:
    """Give an open alert to a member of staff; None removes the assignee.

    A repetition has no effect. Raises NotFound and AlertClosed.
    """
    if await alerts.save_assignee(uow, alert_id, assignee_id):
        await alerts.record_action(uow, alert_id, alerts.AlertAction("assigned", assignee_id), user_id, now)
    elif (await get_alert_detail(uow, alert_id)).closed_at is not None:
        raise AlertClosed
