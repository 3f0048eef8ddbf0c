"""Writes of the feed."""

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.feed import FeedItem

_MARK_READ: Final = """
UPDATE notifications SET read_at = coalesce(read_at, $2) WHERE id = $1 AND title IS NOT NULL
RETURNING id, template, title, body, created_at, read_at, place, subject
"""
_MARK_ALL_READ: Final = """
UPDATE notifications SET read_at = $2
WHERE user_id = $1 AND title IS NOT NULL AND read_at IS NULL AND ($3::timestamptz IS NULL OR created_at <= $3)
"""
# It waits for a notification that is being recorded: either that one is published, or the first read finds it.
_SAVE_STREAMED: Final = """
INSERT INTO feeds AS f (user_id, last, streamed_until) SELECT user_id, 0, $2 FROM unnest($1::uuid[]) AS user_id
ORDER BY user_id
ON CONFLICT (user_id) DO UPDATE SET streamed_until = greatest(f.streamed_until, $2)
"""


async def save_read(uow: UnitOfWork, notification_id: UUID, now: datetime) -> FeedItem | None:
    """Mark a notification of the caller as read and keep the first time; None for an unknown one."""
    row = await uow.fetch_row(_MARK_READ, notification_id, now)
    return None if row is None else FeedItem(*row)


async def save_all_read(uow: UnitOfWork, user_id: UUID, now: datetime, before: datetime | None) -> int:
    """Mark the unread notifications up to and including `before`; return their number."""
    return await uow.execute(_MARK_ALL_READ, user_id, now, before)


async def save_streamed(uow: UnitOfWork, user_ids: Collection[UUID], until: datetime) -> None:
    """Publish the new notifications of these users to all processes until then: one of them streams their feeds."""
    await uow.execute(_SAVE_STREAMED, list(user_ids), until)
