"""Steps of accounts that several operations share."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import EmailConfirmed, ProfileChanged
from contracts.permissions import STAFF_ROLES
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.sign_up_passwords import sign_up_address_hash
from identity.queries.profiles import Profile, profile_of
from identity.store import accounts, codes, factors, passkeys, profiles, recovery_codes, sessions, sign_ups, staff
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions


async def publish_profile(uow: UnitOfWork, user_id: UUID) -> Profile:
    """Publish and return the profile as this transaction changed it: a suspended user has no staff role in the event.

    Raises ProfileMissing.
    """
    profile = await profile_of(uow, user_id)
    roles = () if await staff.is_suspended(uow, user_id) else profile.roles
    uow.publish(profile_changed(profile, staff_roles=tuple(role for role in roles if role in STAFF_ROLES)))
    return profile


def profile_changed(profile: Profile, staff_roles: tuple[str, ...] | None = None) -> ProfileChanged:
    """Return the event of a profile. Without `staff_roles` its readers keep those that they have."""
    return ProfileChanged(
        user_id=profile.id,
        email=profile.email,
        phone=profile.phone,
        full_name=profile.full_name,
        campus_id=profile.campus_id,
        phone_confirmed=profile.phone_confirmed,
        staff_roles=staff_roles,
        hub_id=profile.hub_id,
    )


async def confirm_email(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    user_id: UUID,
    email: str,
    *,
    matching_hash: str | None,
    now: datetime,
    besides: UUID | None = None,
) -> RevokedSessions | None:
    """Confirm the address. The first confirmation ends all sessions and removes every earlier credential.

    Returns None when it was confirmed before (contract section 10.1). `matching_hash` is the stored hash that the
    user's password matched: that password and the phone number given with it are kept. Otherwise another user may
    have opened the account. `besides` is the session of a further issuer whose token confirmed the address. The caller
    holds the locks of profile and account.
    """
    if not await codes.save_confirmed_email(uow, user_id, email):
        return None
    await factors.delete_factors(uow, user_id)
    await recovery_codes.delete_recovery_codes(uow, user_id)
    await passkeys.delete_passkeys(uow, user_id)
    await accounts.save_code_failures(uow, user_id, 0, None)
    await codes.expire_codes(uow, user_id, now)
    await sign_ups.delete_sign_up_passwords(uow, sign_up_address_hash(hashes, email))
    stored_hash = await accounts.lock_password_hash(uow, user_id)
    if stored_hash is not None and stored_hash != matching_hash:
        await accounts.set_password_hash(uow, user_id, None)
        if await profiles.remove_unconfirmed_phone(uow, user_id, now):
            await publish_profile(uow, user_id)
    revoked = await revoke_sessions(uow, user_id, because="address_proven", now=now, besides=besides)
    await sessions.clear_step_ups(uow, user_id, None)
    reward_minor = await profiles.find_reward(uow, user_id)
    uow.publish(EmailConfirmed(user_id=user_id, confirmed_at=iso(now), referral_reward_minor=reward_minor))
    return revoked
