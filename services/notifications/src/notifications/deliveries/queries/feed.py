"""Reads of a user's feed."""

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from common.database.unit_of_work import Reads, UnitOfWork
from notifications.deliveries.domain.feed import FEED_START, FeedItem
from notifications.deliveries.responses.feed import Notification, NotificationSubject

_COLUMNS: Final = "SELECT id, template, title, body, created_at, read_at, place, subject FROM notifications"
_BEFORE: Final = """
  AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3)) ORDER BY created_at DESC, id DESC LIMIT $4
"""
_FEED: Final = f"{_COLUMNS} WHERE user_id = $1 AND title IS NOT NULL {_BEFORE}"
_UNREAD: Final = f"{_COLUMNS} WHERE user_id = $1 AND title IS NOT NULL AND read_at IS NULL {_BEFORE}"
_UNREAD_COUNT: Final = "SELECT count(*) FROM notifications WHERE user_id = $1 AND title IS NOT NULL AND read_at IS NULL"
_AFTER: Final = f"{_COLUMNS} WHERE user_id = $1 AND place > $2 ORDER BY place LIMIT $3"
_LAST: Final = """
SELECT id, place FROM notifications WHERE user_id = $1 AND place IS NOT NULL ORDER BY place DESC LIMIT 1
"""
_POSITION_OF: Final = "SELECT place FROM notifications WHERE user_id = $1 AND id = $2"
_IS_STREAMING: Final = "SELECT EXISTS (SELECT FROM feeds WHERE user_id = $1 AND streamed_until > $2)"
_LAST_POSITIONS: Final = "SELECT user_id, last FROM feeds WHERE user_id = ANY ($1)"


async def list_feed(
    reads: Reads, user_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int, *, unread: bool = False
) -> list[FeedItem]:
    """Return the user's notifications, newest first, after a cursor position; with `unread` only unread ones."""
    at, notification_id = after or (None, None)
    rows = await reads.fetch(_UNREAD if unread else _FEED, user_id, at, notification_id, rows_max)
    return [FeedItem(*row) for row in rows]


async def count_unread(reads: Reads, user_id: UUID) -> int:
    unread: int = await reads.fetch_value(_UNREAD_COUNT, user_id)
    return unread


async def list_feed_after(uow: UnitOfWork, user_id: UUID, position: int, rows_max: int) -> list[FeedItem]:
    """Return the user's notifications after a feed position, oldest first."""
    return [FeedItem(*row) for row in await uow.fetch(_AFTER, user_id, position, rows_max)]


async def find_last_position(uow: UnitOfWork, user_id: UUID) -> tuple[UUID, int]:
    """Return the id and the position of the user's last notification; FEED_START and 0 for an empty feed."""
    row = await uow.fetch_row(_LAST, user_id)
    return (FEED_START, 0) if row is None else (row["id"], row["place"])


async def find_position_of(uow: UnitOfWork, user_id: UUID, notification_id: UUID) -> int | None:
    """Return the position of a notification, 0 of FEED_START; None when it is not in the user's feed."""
    if notification_id == FEED_START:
        return 0
    position: int | None = await uow.fetch_value(_POSITION_OF, user_id, notification_id)
    return position


async def list_last_positions(uow: UnitOfWork, user_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the last position of each user's feed."""
    rows = await uow.fetch(_LAST_POSITIONS, list(user_ids))
    return {user_id: last for user_id, last in rows}  # noqa: C416 - records are no tuples


async def is_streaming(uow: UnitOfWork, user_id: UUID, now: datetime) -> bool:
    """Return whether the user has an open stream, or had one within the last minute."""
    return bool(await uow.fetch_value(_IS_STREAMING, user_id, now))


def notification_response(item: FeedItem) -> Notification:
    return Notification.from_record(item, subject=msgspec.convert(item.subject, NotificationSubject | None))
