"""Mark the notifications of a user as read."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.feed import save_all_read


async def read_all_notifications(uow: UnitOfWork, user_id: UUID, now: datetime, before: datetime | None) -> int:
    """Mark the unread notifications up to and including `before`, or all without it; return their number."""
    return await save_all_read(uow, user_id, now, before)
