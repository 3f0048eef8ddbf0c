"""The session status of a user with a token of a further issuer.

**A further issuer authenticates, identity authorizes.** Each issuer has its own key source, so no key verifies for
another issuer. Roles, vendor and campus come from a lookup in identity, cached for the minute in which the service
caches the token. The token is the only credential of a lookup. While identity is unavailable, callers of the last
minute continue and others get 503. Their session id is a UUIDv5 over issuer, subject and session, so logout works and
no issuer can name a foreign session.
"""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

_PRESENCE: Final = """
SELECT EXISTS (SELECT FROM sessions WHERE id = $2 AND user_id = p.id AND ended_at IS NOT NULL) AS session_revoked
FROM profiles p WHERE p.id = $1 AND p.erased_at IS NULL
"""


async def is_session_revoked(uow: UnitOfWork, user_id: UUID, session_id: UUID | None) -> bool | None:
    """Return whether this session of the user was revoked; None for a user without a profile."""
    row = await uow.fetch_row(_PRESENCE, user_id, session_id)
    return bool(row["session_revoked"]) if row else None
