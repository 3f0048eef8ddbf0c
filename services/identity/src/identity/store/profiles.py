"""Profiles, referrals and roles: writes, and the reads that a write decides on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.institutions import Institution
from identity.domain.referrals import Provisioned, Referrer

# Of concurrent calls for one new user, the first creates the profile and the others wait and find it.
_LOCK_NEW_USER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('user:' || $1, 0))"
# Two concurrent profiles of one mailbox would each consider themselves the first.
_LOCK_MAILBOX: Final = "SELECT pg_advisory_xact_lock(hashtextextended('mailbox:' || $1, 0))"
_FIND_CAMPUS: Final = "SELECT id FROM campuses WHERE domain = $1"
_RECORD_CAMPUS: Final = """
INSERT INTO campuses (id, name, domain, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING id
"""
_RECORD_PROFILE: Final = """
INSERT INTO profiles (
    id, email, mailbox, phone, full_name, campus_id, referral_token, created_at, updated_at, confirmed_email,
    confirmed_phone
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, CASE WHEN $9 THEN $2 END, CASE WHEN $10 THEN $4 END)
ON CONFLICT (id) DO NOTHING RETURNING true
"""
_FIND_PROVISIONED: Final = """
SELECT id, campus_id, referral_applied, referral_reward_minor, referral_reason,
    confirmed_email IS NOT NULL OR erased_at IS NOT NULL AS email_confirmed
FROM profiles WHERE id = $1
"""
_FIND_REFERRER: Final = "SELECT id, mailbox FROM profiles WHERE referral_token = $1 AND erased_at IS NULL"
# One statement: a user who is erased concurrently is found in one of the two tables.
_MAILBOX_KNOWN: Final = """
SELECT EXISTS (SELECT FROM profiles WHERE mailbox = $1 AND id <> $3)
    OR EXISTS (SELECT FROM erased_mailboxes WHERE mailbox_hash = $2)
"""
_RECORD_REFERRAL: Final = """
INSERT INTO referrals (user_id, referrer_id, mailbox, reward_minor, created_at) VALUES ($1, $2, $3, $4, $5)
"""
_SAVE_REFERRAL_OUTCOME: Final = """
UPDATE profiles SET referral_applied = $2, referral_reward_minor = $3, referral_reason = $4 WHERE id = $1
"""
_RECORD_ROLE: Final = """
INSERT INTO role_grants (user_id, role, campus_id, hub_id, granted_by, granted_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id, role) DO NOTHING RETURNING true
"""
_REMOVE_UNCONFIRMED_PHONE: Final = """
UPDATE profiles SET phone = NULL, revision = revision + 1, updated_at = $2
WHERE id = $1 AND phone IS NOT NULL AND confirmed_phone IS DISTINCT FROM phone RETURNING true
"""
_FIND_REWARD: Final = "SELECT referral_reward_minor FROM profiles WHERE id = $1 AND referral_applied"
_FIND_EMAIL: Final = "SELECT email FROM profiles WHERE id = $1 AND erased_at IS NULL"
# Runs as the caller, whose policy shows only their own row. A referral that references the row does not wait.
_LOCK_PROFILE: Final = "SELECT FROM profiles WHERE id = $1 FOR NO KEY UPDATE"
_LOCK_PROFILES_AFTER: Final = """
SELECT id FROM profiles WHERE erased_at IS NULL AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2 FOR NO KEY UPDATE
"""
_SAVE_PROFILE: Final = """
UPDATE profiles SET full_name = $3, phone = $4, revision = revision + 1, updated_at = $5
WHERE id = $1 AND revision = $2 RETURNING revision
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProfile:
    """A profile at its creation, with the addresses that are confirmed already."""

    user_id: UUID
    email: str
    mailbox: str
    phone: str | None
    full_name: str | None
    campus_id: UUID | None
    referral_token: str
    email_confirmed: bool = False
    phone_confirmed: bool = False


async def lock_new_user(uow: UnitOfWork, user_id: UUID) -> None:
    """Serialize provisioning of one user until the transaction ends."""
    await uow.execute(_LOCK_NEW_USER, str(user_id))


async def lock_mailbox(uow: UnitOfWork, mailbox: str) -> None:
    """Serialize provisioning of one mailbox until the transaction ends."""
    await uow.execute(_LOCK_MAILBOX, mailbox)


async def find_campus_id(uow: UnitOfWork, domain: str) -> UUID | None:
    found: UUID | None = await uow.fetch_value(_FIND_CAMPUS, domain)
    return found


async def record_campus_if_new(uow: UnitOfWork, institution: Institution, now: datetime) -> bool:
    """Return False when the campus exists."""
    values = (institution.campus_id, institution.name, institution.domain, now)
    return await uow.fetch_value(_RECORD_CAMPUS, *values) is not None


async def record_profile_if_new(uow: UnitOfWork, profile: NewProfile, now: datetime) -> bool:
    """Return False when the profile exists. A concurrent second call waits for the first."""
    values = (
        profile.user_id,
        profile.email,
        profile.mailbox,
        profile.phone,
        profile.full_name,
        profile.campus_id,
        profile.referral_token,
        now,
        profile.email_confirmed,
        profile.phone_confirmed,
    )
    return bool(await uow.fetch_value(_RECORD_PROFILE, *values))


async def find_provisioned(uow: UnitOfWork, user_id: UUID) -> Provisioned | None:
    """Return the outcome of the call that created the profile; None before it."""
    row = await uow.fetch_row(_FIND_PROVISIONED, user_id)
    return Provisioned(*row) if row else None


async def find_referrer(uow: UnitOfWork, referral_token: str) -> Referrer | None:
    row = await uow.fetch_row(_FIND_REFERRER, referral_token)
    return Referrer(row["id"], row["mailbox"]) if row else None


async def is_mailbox_known(uow: UnitOfWork, mailbox: str, mailbox_hash: bytes, *, besides: UUID) -> bool:
    """Return whether another user has this mailbox, or had it before their erasure."""
    return bool(await uow.fetch_value(_MAILBOX_KNOWN, mailbox, mailbox_hash, besides))


async def record_referral(
    uow: UnitOfWork, *, user_id: UUID, referrer_id: UUID, mailbox: str, reward_minor: int, now: datetime
) -> None:
    await uow.execute(_RECORD_REFERRAL, user_id, referrer_id, mailbox, reward_minor, now)


async def save_referral_outcome(uow: UnitOfWork, outcome: Provisioned) -> None:
    await uow.execute(_SAVE_REFERRAL_OUTCOME, outcome.id, outcome.applied, outcome.reward_minor, outcome.reason)


async def record_role_if_new(
    uow: UnitOfWork,
    user_id: UUID,
    role: str,
    now: datetime,
    *,
    campus_id: UUID | None = None,
    hub_id: UUID | None = None,
) -> bool:
    return bool(await uow.fetch_value(_RECORD_ROLE, user_id, role, campus_id, hub_id, None, now))


async def lock_profile(uow: UnitOfWork, user_id: UUID) -> None:
    """Serialize changes of a profile until the transaction ends."""
    await uow.execute(_LOCK_PROFILE, user_id)


async def remove_unconfirmed_phone(uow: UnitOfWork, user_id: UUID, now: datetime) -> bool:
    """Return whether an unconfirmed number was removed."""
    return bool(await uow.fetch_value(_REMOVE_UNCONFIRMED_PHONE, user_id, now))


async def find_reward(uow: UnitOfWork, user_id: UUID) -> int:
    """Return the reward of the referral that the user signed up with, in kobo; 0 without one."""
    reward_minor: int | None = await uow.fetch_value(_FIND_REWARD, user_id)
    return reward_minor or 0


async def find_email(uow: UnitOfWork, user_id: UUID) -> str | None:
    """Return the address of a profile, with or without an account."""
    email: str | None = await uow.fetch_value(_FIND_EMAIL, user_id)
    return email


async def save_profile(
    uow: UnitOfWork, user_id: UUID, revision: int, *, full_name: str | None, phone: str | None, now: datetime
) -> bool:
    """Return False when the profile no longer has this revision. Runs as the caller, whose policy allows only their own
    row.
    """
    return await uow.fetch_value(_SAVE_PROFILE, user_id, revision, full_name, phone, now) is not None


async def lock_profiles_after(uow: UnitOfWork, last_id: UUID | None, limit: int) -> list[UUID]:
    """Lock at most `limit` profiles of users who are not erased, and return their ids in order, after `last_id`."""
    return [user_id for (user_id,) in await uow.fetch(_LOCK_PROFILES_AFTER, last_id, limit)]
