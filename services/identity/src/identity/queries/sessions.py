"""A user's own sessions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.web.pages import TimePosition
from identity.responses import sessions as responses

# Active: not revoked, and with a refresh token that can still be exchanged.
_PAGE: Final = """
SELECT s.id, s.signed_in_at, s.method, s.user_agent,
    (SELECT max(t.issued_at) FROM refresh_tokens t WHERE t.session_id = s.id) AS last_used_at
FROM sessions s
WHERE s.user_id = $1 AND s.ended_at IS NULL
    AND EXISTS (SELECT FROM refresh_tokens t WHERE t.session_id = s.id AND t.used_at IS NULL AND t.expires_at > $5)
    AND ($2::timestamptz IS NULL OR (s.signed_in_at, s.id) < ($2, $3::uuid))
ORDER BY s.signed_in_at DESC, s.id DESC LIMIT $4
"""


@dataclass(frozen=True, slots=True)
class Session:
    """An active session; `created_at` is the time of the sign-in."""

    id: UUID
    created_at: datetime
    method: str
    user_agent: str | None
    last_used_at: datetime

    def response(self, current_id: UUID | None) -> responses.Session:
        """`current_id` is the session of the caller's token."""
        return responses.Session.from_record(self, signed_in_at=iso(self.created_at), current=self.id == current_id)


async def page_of_sessions(
    uow: UnitOfWork, user_id: UUID, after: TimePosition | None, limit: int, *, now: datetime
) -> list[Session]:
    """Return up to `limit` + 1 active sessions, newest first."""
    return [Session(*row) for row in await uow.fetch(_PAGE, user_id, *(after or (None, None)), limit + 1, now)]
