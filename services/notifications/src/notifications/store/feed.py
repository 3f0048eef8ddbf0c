"""The notifications of the feed: SQL by name, without decisions."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.notifications import NotificationShown
from notifications.domain.deliveries import FeedLine, NotificationRequest

# The row of the feed stays locked until the commit: places are given in the order in which they are seen.
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
RETURNING id, template, title, body, created_at, read_at
"""
_MARK_ALL_READ: Final = """
UPDATE notifications SET read_at = $2
WHERE user_id = $1 AND title IS NOT NULL AND read_at IS NULL AND ($3::timestamptz IS NULL OR created_at <= $3)
"""


async def record_notification_if_new(
    uow: UnitOfWork, wanted: NotificationRequest, shown: FeedLine | None, now: datetime
) -> bool:
    """Whether the notification is this user's: it was written now, or before for the same user.

    What is new in a feed is said to the processes that stream it.
    """
    title, body = (shown.title, shown.body) if shown else (None, None)
    written = await uow.execute(
        _RECORD_NOTIFICATION, wanted.notification_id, wanted.user_id, wanted.template, title, body, now
    )
    if written:
        if shown is not None and wanted.user_id is not None:
            uow.publish(NotificationShown(user_id=wanted.user_id, notification_id=wanted.notification_id))
        return True
    owner: UUID | None = await uow.fetch_value(_NOTIFICATION_OWNER, wanted.notification_id)
    return owner == wanted.user_id


async def save_read(uow: UnitOfWork, notification_id: UUID, now: datetime) -> Any:
    """Marks a notification of the caller as read, once; its row, or None when the caller has none such."""
    return await uow.fetch_row(_MARK_READ, notification_id, now)


async def save_all_read(uow: UnitOfWork, user_id: UUID, now: datetime, before: datetime | None) -> int:
    """Marks what the user has not read, up to and with `before`; tells how many."""
    return await uow.execute(_MARK_ALL_READ, user_id, now, before)
