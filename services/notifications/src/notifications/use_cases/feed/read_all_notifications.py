"""Mark everything that a person has seen as read."""

from datetime import datetime
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import store


async def read_all_notifications(
    uow: UnitOfWork, user_id: UUID, now: datetime, before: datetime | None
) -> dict[str, Any]:
    """Marks the unread ones up to and with `before` (all without it), so that what came meanwhile stays unread. Repeatable."""
    return {"read": await store.save_all_read(uow, user_id, now, before)}
