"""The feed of a user."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.clock import iso, iso_or_none
from common.database import UnitOfWork

_FEED: Final = """
SELECT id, template, title, body, created_at, read_at FROM notifications
WHERE user_id = $1 AND title IS NOT NULL AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC LIMIT $4
"""


async def list_feed(
    uow: UnitOfWork, user_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[dict[str, Any]]:
    """The user's notifications, newest first, after a position."""
    at, notification_id = after or (None, None)
    return [feed_shape(row) for row in await uow.fetch(_FEED, user_id, at, notification_id, rows_max)]


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
