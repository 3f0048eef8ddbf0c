"""A person's own sessions."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from asyncpg import Record

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from identity.queries.pages import Position, split_position

# Live: not ended, and with a token that can still be exchanged.
_PAGE: Final = """
SELECT s.id, s.signed_in_at AS created_at, s.method, s.user_agent,
    (SELECT max(t.issued_at) FROM refresh_tokens t WHERE t.session_id = s.id) AS last_used_at
FROM sessions s
WHERE s.user_id = $1 AND s.ended_at IS NULL
    AND EXISTS (SELECT FROM refresh_tokens t WHERE t.session_id = s.id AND t.used_at IS NULL AND t.expires_at > $5)
    AND ($2::timestamptz IS NULL OR (s.signed_in_at, s.id) < ($2, $3::uuid))
ORDER BY s.signed_in_at DESC, s.id DESC LIMIT $4
"""


async def page_of_sessions(
    uow: UnitOfWork, user_id: UUID, after: Position | None, limit: int, *, now: datetime
) -> list[Record]:
    """Those that last at this moment, newest first, one more than `limit`."""
    return await uow.fetch(_PAGE, user_id, *split_position(after), limit + 1, now)


def session_shown(row: Record, current_id: UUID | None) -> dict[str, Any]:
    return {
        "id": row["id"],
        "signedInAt": iso(row["created_at"]),
        "lastUsedAt": iso(row["last_used_at"]),
        "method": row["method"],
        "userAgent": row["user_agent"],
        "current": row["id"] == current_id,
    }
