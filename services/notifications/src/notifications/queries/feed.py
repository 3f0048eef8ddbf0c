"""The feed of a user."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none

_COLUMNS: Final = "SELECT id, template, title, body, created_at, read_at, place FROM notifications"
_FEED: Final = f"""
{_COLUMNS}
WHERE user_id = $1 AND title IS NOT NULL AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC LIMIT $4
"""
_UNREAD: Final = f"""
{_COLUMNS}
WHERE user_id = $1 AND title IS NOT NULL AND read_at IS NULL
  AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC LIMIT $4
"""
_UNREAD_COUNT: Final = "SELECT count(*) FROM notifications WHERE user_id = $1 AND title IS NOT NULL AND read_at IS NULL"
_AFTER: Final = f"{_COLUMNS} WHERE user_id = $1 AND place > $2 ORDER BY place LIMIT $3"
_LAST_PLACE: Final = "SELECT coalesce(max(place), 0) FROM notifications WHERE user_id = $1 AND place IS NOT NULL"
_PLACE_OF: Final = "SELECT place FROM notifications WHERE user_id = $1 AND id = $2"
_LAST_PLACES: Final = "SELECT user_id, last FROM feeds WHERE user_id = ANY ($1)"


async def list_feed(
    uow: UnitOfWork, user_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int, *, unread: bool = False
) -> list[dict[str, Any]]:
    """The user's notifications, newest first, after a position; with `unread` only those."""
    at, notification_id = after or (None, None)
    rows = await uow.fetch(_UNREAD if unread else _FEED, user_id, at, notification_id, rows_max)
    return [feed_shape(row) for row in rows]


async def count_unread(uow: UnitOfWork, user_id: UUID) -> int:
    """How many of the user's notifications are not read."""
    unread: int = await uow.fetch_value(_UNREAD_COUNT, user_id)
    return unread


async def list_feed_after(uow: UnitOfWork, user_id: UUID, place: int, rows_max: int) -> list[Any]:
    """The rows of the user's notifications after a place, oldest first; `place` tells where each stands."""
    return await uow.fetch(_AFTER, user_id, place, rows_max)


async def find_last_place(uow: UnitOfWork, user_id: UUID) -> int:
    """Where the user's feed ends now; 0 when nothing is in it."""
    place: int = await uow.fetch_value(_LAST_PLACE, user_id)
    return place


async def find_place_of(uow: UnitOfWork, user_id: UUID, notification_id: UUID) -> int | None:
    """Where a notification stands in the user's feed; None when it does not."""
    place: int | None = await uow.fetch_value(_PLACE_OF, user_id, notification_id)
    return place


async def list_last_places(uow: UnitOfWork, user_ids: Collection[UUID]) -> dict[UUID, int]:
    """The last place that was given in the feed of each of these users."""
    return {row["user_id"]: row["last"] for row in await uow.fetch(_LAST_PLACES, list(user_ids))}


def feed_shape(row: Any) -> dict[str, Any]:
    """A notification of the feed."""
    return {
        "id": str(row["id"]),
        "template": row["template"],
        "title": row["title"],
        "body": row["body"],
        "createdAt": iso(row["created_at"]),
        "readAt": iso_or_none(row["read_at"]),
    }
