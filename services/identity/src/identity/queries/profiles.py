"""Profiles and referrals."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.permissions import leading_role
from identity.domain.errors import ProfileMissing

_PROFILE: Final = """
SELECT p.id, p.email, p.confirmed_email IS NOT DISTINCT FROM p.email, p.phone, coalesce(p.confirmed_phone = p.phone, false),
    p.full_name, array(SELECT g.role FROM role_grants g WHERE g.user_id = p.id ORDER BY g.role), p.campus_id, p.revision,
    p.created_at, p.updated_at
FROM profiles p WHERE p.id = $1
"""
_REFERRAL: Final = """
SELECT p.referral_token, (SELECT count(*) FROM referrals r WHERE r.referrer_id = p.id) FROM profiles p WHERE p.id = $1
"""


@dataclass(frozen=True, slots=True)
class Profile:
    id: UUID
    email: str
    email_confirmed: bool
    phone: str | None
    phone_confirmed: bool
    full_name: str | None
    roles: list[str]
    campus_id: UUID | None
    revision: int
    created_at: datetime
    updated_at: datetime

    def response(self, caller: Caller) -> dict[str, Any]:
        """Return the profile of the caller, with what the token of this request permits."""
        return {
            "id": self.id,
            "email": self.email,
            "emailConfirmed": self.email_confirmed,
            "phone": self.phone,
            "phoneConfirmed": self.phone_confirmed,
            "fullName": self.full_name,
            "role": leading_role(self.roles),
            "roles": self.roles,
            "permissions": sorted(caller.permissions),
            "secondFactorRequired": bool(caller.withheld),
            "vendorId": caller.vendor_id,
            "campusId": self.campus_id,
            "revision": self.revision,
            "createdAt": iso(self.created_at),
            "updatedAt": iso(self.updated_at),
        }


async def profile_of(uow: UnitOfWork, user_id: UUID) -> Profile:
    """Raise ProfileMissing."""
    row = await uow.fetch_row(_PROFILE, user_id)
    if row is None:
        raise ProfileMissing
    return Profile(*row)


async def referral_of(uow: UnitOfWork, user_id: UUID) -> dict[str, Any]:
    """Return a user's referral token and the number of users who signed up with it. Raises ProfileMissing."""
    row = await uow.fetch_row(_REFERRAL, user_id)
    if row is None:
        raise ProfileMissing
    token, count = row
    return {"token": token, "count": count}
