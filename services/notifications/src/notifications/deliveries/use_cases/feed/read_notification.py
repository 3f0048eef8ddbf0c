"""Mark a notification as read."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.deliveries.domain.feed import FeedItem
from notifications.deliveries.store.feed import save_read


async def read_notification(uow: UnitOfWork, notification_id: UUID, now: datetime) -> FeedItem:
    """Mark the caller's notification as read and keep the first time. Raises NotFound for a foreign or unknown one."""
    item = await save_read(uow, notification_id, now)
    if item is None:
        raise NotFound
    return item
