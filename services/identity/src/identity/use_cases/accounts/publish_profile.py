"""Tell the other services how a person stands now."""

from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.identity import ProfileChanged
from contracts.permissions import STAFF_ROLES
from identity.queries.profiles import profile_of


async def publish_profile(uow: UnitOfWork, user_id: UUID) -> dict[str, Any]:
    """Says contact, name, campus, whether the number was proven, and roles of staff, as this transaction leaves them; the profile
    is told to the caller too. Raises ProfileMissing."""
    profile = await profile_of(uow, user_id)
    uow.publish(
        ProfileChanged(
            user_id=user_id,
            email=profile["email"],
            phone=profile["phone"],
            full_name=profile["fullName"],
            campus_id=profile["campusId"],
            phone_confirmed=profile["phoneConfirmed"],
            staff_roles=tuple(role for role in profile["roles"] if role in STAFF_ROLES),
        )
    )
    return profile
