"""Mark a notification as read."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.deliveries import store
from notifications.deliveries.domain.feed import FeedItem


async def read_notification(uow: UnitOfWork, notification_id: UUID, now: datetime) -> FeedItem:
    """Mark the caller's notification as read and keep the first time. Raises NotFound for a foreign or unknown one."""
    item = await store.save_read(uow, notification_id, now)
    if item is None:
        raise NotFound
    return item
