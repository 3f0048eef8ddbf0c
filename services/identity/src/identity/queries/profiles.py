"""People: profiles and referrals."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.permissions import leading_role
from identity.domain.errors import ProfileMissing

_PROFILE: Final = """
SELECT p.id, p.email, p.phone, p.full_name, p.campus_id, p.revision, p.created_at, p.updated_at,
    p.confirmed_email IS NOT DISTINCT FROM p.email AS email_confirmed,
    coalesce(p.confirmed_phone = p.phone, false) AS phone_confirmed,
    array(SELECT g.role FROM role_grants g WHERE g.user_id = p.id ORDER BY g.role) AS roles
FROM profiles p WHERE p.id = $1
"""
_REFERRAL: Final = """
SELECT p.referral_token, (SELECT count(*) FROM referrals r WHERE r.referrer_id = p.id) AS referred
FROM profiles p WHERE p.id = $1
"""


async def profile_of(uow: UnitOfWork, user_id: UUID) -> dict[str, Any]:
    """A person's own profile; raises ProfileMissing."""
    row = await uow.fetch_row(_PROFILE, user_id)
    if row is None:
        raise ProfileMissing
    return {
        "id": row["id"],
        "email": row["email"],
        "emailConfirmed": row["email_confirmed"],
        "phone": row["phone"],
        "phoneConfirmed": row["phone_confirmed"],
        "fullName": row["full_name"],
        "role": leading_role(row["roles"]),
        "roles": row["roles"],
        "campusId": row["campus_id"],
        "revision": row["revision"],
        "createdAt": iso(row["created_at"]),
        "updatedAt": iso(row["updated_at"]),
    }


async def referral_of(uow: UnitOfWork, user_id: UUID) -> dict[str, Any]:
    """A person's referral token and how many came with it; raises ProfileMissing."""
    row = await uow.fetch_row(_REFERRAL, user_id)
    if row is None:
        raise ProfileMissing
    return {"token": row["referral_token"], "count": row["referred"]}
