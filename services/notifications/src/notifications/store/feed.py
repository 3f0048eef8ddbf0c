"""The notifications of the feed: SQL by name, without decisions."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork
from notifications.domain.deliveries import FeedLine, Wanted

_RECORD_NOTIFICATION: Final = """
INSERT INTO notifications (id, user_id, template, title, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO NOTHING
"""
_NOTIFICATION_OWNER: Final = "SELECT user_id FROM notifications WHERE id = $1"
_MARK_READ: Final = """
UPDATE notifications SET read_at = coalesce(read_at, $2) WHERE id = $1 AND title IS NOT NULL
RETURNING id, template, title, body, created_at, read_at
"""


async def record_notification_once(uow: UnitOfWork, wanted: Wanted, shown: FeedLine | None, now: datetime) -> bool:
    """Whether the notification is this user's: it was written now, or before for the same user."""
    title, body = (shown.title, shown.body) if shown else (None, None)
    await uow.execute(_RECORD_NOTIFICATION, wanted.notification_id, wanted.user_id, wanted.template, title, body, now)
    owner: UUID | None = await uow.fetch_value(_NOTIFICATION_OWNER, wanted.notification_id)
    return owner == wanted.user_id


async def save_read(uow: UnitOfWork, notification_id: UUID, now: datetime) -> Any:
    """Marks a notification of the caller as read, once; its row, or None when the caller has none such."""
    return await uow.fetch_row(_MARK_READ, notification_id, now)
