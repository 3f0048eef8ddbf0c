"""Profiles and referrals."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from contracts.permissions import SHOP_ROLES, leading_role
from identity.domain.errors import ProfileMissing
from identity.responses import profiles as responses

_PROFILE: Final = """
SELECT p.id, p.email, p.confirmed_email IS NOT DISTINCT FROM p.email, p.phone,
    coalesce(p.confirmed_phone = p.phone, false), p.full_name,
    array(SELECT g.role FROM role_grants g WHERE g.user_id = p.id ORDER BY g.role), p.campus_id, p.revision,
    p.created_at, p.updated_at, (SELECT g.hub_id FROM role_grants g WHERE g.user_id = p.id AND g.role = 'hub_agent')
FROM profiles p WHERE p.id = $1
"""
_REFERRAL: Final = """
SELECT p.referral_token AS token, (SELECT count(*) FROM referrals r WHERE r.referrer_id = p.id) AS count FROM profiles p
WHERE p.id = $1
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
    hub_id: UUID | None

    def response(self, caller: Caller) -> responses.Profile:
        """Return the profile of the caller, with what the token of this request permits."""
        roles = sorted({*self.roles, *(caller.roles & SHOP_ROLES)})
        return responses.Profile.from_record(
            self,
            role=leading_role(roles),
            roles=roles,
            permissions=sorted(caller.permissions),
            second_factor_required=bool(caller.withheld),
            vendor_id=caller.vendor_id,
            packing_vendor_id=caller.packing_vendor_id,
        )


async def profile_of(uow: UnitOfWork, user_id: UUID) -> Profile:
    """Raise ProfileMissing."""
    row = await uow.fetch_row(_PROFILE, user_id)
    if row is None:
        raise ProfileMissing
    return Profile(*row)


async def referral_of(uow: UnitOfWork, user_id: UUID) -> responses.Referral:
    """Return a user's referral token and the number of users who signed up with it. Raises ProfileMissing."""
    row = await uow.fetch_row(_REFERRAL, user_id)
    if row is None:
        raise ProfileMissing
    return responses.Referral.from_row(row)
