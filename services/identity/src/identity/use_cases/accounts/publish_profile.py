"""Publish a profile to the other services."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.identity import ProfileChanged
from contracts.permissions import STAFF_ROLES
from identity.queries.profiles import Profile, profile_of


async def publish_profile(uow: UnitOfWork, user_id: UUID) -> Profile:
    """Publish and return the profile as this transaction changed it. Raises ProfileMissing."""
    profile = await profile_of(uow, user_id)
    uow.publish(
        ProfileChanged(
            user_id=user_id,
            email=profile.email,
            phone=profile.phone,
            full_name=profile.full_name,
            campus_id=profile.campus_id,
            phone_confirmed=profile.phone_confirmed,
            staff_roles=tuple(role for role in profile.roles if role in STAFF_ROLES),
        )
    )
    return profile
