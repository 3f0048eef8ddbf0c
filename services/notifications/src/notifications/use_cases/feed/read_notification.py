"""Mark a notification as read."""

from datetime import datetime
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications import queries, store


async def read_notification(uow: UnitOfWork, notification_id: UUID, now: datetime) -> dict[str, Any]:
    """The caller's notification, read; the first time stays. Raises NotFound for a foreign or absent one."""
    row = await store.save_read(uow, notification_id, now)
    if row is None:
        raise NotFound
    return queries.feed_shape(row)
