"""Add a note to an alert."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.queries.alerts import get_alert_detail
from notifications.deliveries.store import alerts


async def add_alert_note(uow: UnitOfWork, alert_id: UUID, text: str, user_id: UUID, now: datetime) -> None:
    """Add a note to the history, also of a closed alert. Raises NotFound."""
    await get_alert_detail(uow, alert_id)
    await alerts.record_action(uow, alert_id, alerts.AlertAction("noted", note=text), user_id, now)
