"""The session status of a user with a token of a further issuer."""

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
