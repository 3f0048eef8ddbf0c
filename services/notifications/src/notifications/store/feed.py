"""Writes of the feed."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.notifications import NotificationShown
from notifications.domain.deliveries import NotificationRequest
from notifications.domain.feed import FeedEntry, FeedItem

# The row of the feed stays locked until the commit, so positions become visible in their order.
_RECORD_NOTIFICATION: Final = """
WITH next AS (
    INSERT INTO feeds AS f (user_id, last)
    SELECT $2, 1 WHERE $4::text IS NOT NULL AND NOT EXISTS (SELECT FROM notifications WHERE id = $1)
    ON CONFLICT (user_id) DO UPDATE SET last = f.last + 1
    RETURNING last
)
INSERT INTO notifications (id, user_id, template, title, body, created_at, place)
SELECT $1, $2, $3, $4, $5, $6, (SELECT last FROM next)
WHERE $4::text IS NULL OR EXISTS (SELECT FROM next)
ON CONFLICT (id) DO NOTHING
"""
_NOTIFICATION_OWNER: Final = "SELECT user_id FROM notifications WHERE id = $1"
_MARK_READ: Final = """
UPDATE notifications SET read_at = coalesce(read_at, $2) WHERE id = $1 AND title IS NOT NULL
RETURNING id, template, title, body, created_at, read_at, place
"""
_MARK_ALL_READ: Final = """
UPDATE notifications SET read_at = $2
WHERE user_id = $1 AND title IS NOT NULL AND read_at IS NULL AND ($3::timestamptz IS NULL OR created_at <= $3)
"""


async def record_notification_if_new(
    uow: UnitOfWork, request: NotificationRequest, entry: FeedEntry | None, now: datetime
) -> bool:
    """Insert the notification; return False when the id belongs to another user's notification.

    A new feed entry is published to the processes that stream it.
    """
    title, body = (entry.title, entry.body) if entry else (None, None)
    inserted = await uow.execute(
        _RECORD_NOTIFICATION, request.notification_id, request.user_id, request.template, title, body, now
    )
    if inserted:
        if entry is not None and request.user_id is not None:
            uow.publish(NotificationShown(user_id=request.user_id, notification_id=request.notification_id))
        return True
    owner: UUID | None = await uow.fetch_value(_NOTIFICATION_OWNER, request.notification_id)
    return owner == request.user_id


async def save_read(uow: UnitOfWork, notification_id: UUID, now: datetime) -> FeedItem | None:
    """Mark a notification of the caller as read and keep the first time; None for an unknown one."""
    row = await uow.fetch_row(_MARK_READ, notification_id, now)
    return None if row is None else FeedItem(*row)


async def save_all_read(uow: UnitOfWork, user_id: UUID, now: datetime, before: datetime | None) -> int:
    """Mark the unread notifications up to and including `before`; return their number."""
    return await uow.execute(_MARK_ALL_READ, user_id, now, before)
