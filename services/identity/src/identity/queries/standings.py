"""What the other services ask about somebody who came with a token of a further issuer."""

from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork

_STANDING: Final = """
SELECT array(SELECT role FROM role_grants WHERE user_id = p.id ORDER BY role) AS roles,
    coalesce(
        (SELECT campus_id FROM role_grants WHERE user_id = p.id AND campus_id IS NOT NULL ORDER BY role LIMIT 1),
        p.campus_id
    ) AS campus_id,
    (SELECT id FROM vendors WHERE owner_user_id = p.id AND status = 'active') AS vendor_id,
    EXISTS (SELECT FROM sessions WHERE id = $2 AND user_id = p.id AND ended_at IS NOT NULL) AS session_ended
FROM profiles p WHERE p.id = $1 AND p.erased_at IS NULL
"""


async def find_standing_of(uow: UnitOfWork, user_id: UUID, session_id: UUID | None) -> dict[str, Any] | None:
    """Roles, vendor and campus of a person, and whether their session was ended; None without a profile."""
    row = await uow.fetch_row(_STANDING, user_id, session_id)
    return dict(row) if row else None
