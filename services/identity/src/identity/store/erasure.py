"""What the service knows of a person, taken away. The row of the profile stays, empty."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database import UnitOfWork
from contracts.permissions import STAFF_ROLES

# Whoever decides on an application of the person, or provisions them, holds the profile too.
_LOCK_PERSON: Final = "SELECT mailbox FROM profiles WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE"
_FIND_BONDS: Final = """
SELECT EXISTS (SELECT FROM vendors WHERE owner_user_id = $1) AS owns_a_vendor,
    EXISTS (SELECT FROM role_grants WHERE user_id = $1 AND role = ANY ($2::text[])) AS is_staff
"""
# In the order of their foreign keys; refresh tokens go with their sessions.
_FORGET: Final = (
    "DELETE FROM sessions WHERE user_id = $1",
    "DELETE FROM totp_factors WHERE user_id = $1",
    "DELETE FROM recovery_codes WHERE user_id = $1",
    "DELETE FROM passkeys WHERE user_id = $1",
    "DELETE FROM passkey_challenges WHERE user_id = $1",
    "DELETE FROM one_time_codes WHERE user_id = $1",
    "DELETE FROM accounts WHERE user_id = $1",
    "DELETE FROM vendor_applications WHERE user_id = $1",
    "DELETE FROM role_grants WHERE user_id = $1",
    "UPDATE staff_grants SET status = 'expired' WHERE user_id = $1 AND status = 'prepared'",
    # Who brought whom stays counted; a mailbox is rewarded once by the hash that is kept.
    "UPDATE referrals SET mailbox = user_id::text WHERE user_id = $1",
)
_EMPTY_PROFILE: Final = """
UPDATE profiles
SET email = '', mailbox = '', phone = NULL, full_name = NULL, confirmed_email = NULL, confirmed_phone = NULL,
    referral_token = 'erased:' || id, revision = revision + 1, updated_at = $2, erased_at = $2
WHERE id = $1
"""
_RECORD_MAILBOX: Final = """
INSERT INTO erased_mailboxes (mailbox_hash, erased_at) VALUES ($1, $2)
ON CONFLICT (mailbox_hash) DO UPDATE SET erased_at = excluded.erased_at
"""


@dataclass(frozen=True, slots=True)
class Bonds:
    """What keeps a person from being erased."""

    owns_a_vendor: bool
    is_staff: bool


async def lock_person(uow: UnitOfWork, user_id: UUID) -> str | None:
    """The mailbox of a person who is there; their profile stays locked until the transaction ends."""
    mailbox: str | None = await uow.fetch_value(_LOCK_PERSON, user_id)
    return mailbox


async def find_bonds(uow: UnitOfWork, user_id: UUID) -> Bonds:
    row = await uow.fetch_row(_FIND_BONDS, user_id, sorted(STAFF_ROLES))
    return Bonds(**row) if row else Bonds(owns_a_vendor=False, is_staff=False)


async def forget_person(uow: UnitOfWork, user_id: UUID, mailbox_hash: bytes, now: datetime) -> None:
    """Nothing is left that tells who it was; by the hash the mailbox is known not to be a new one."""
    for statement in _FORGET:
        await uow.execute(statement, user_id)
    await uow.execute(_EMPTY_PROFILE, user_id, now)
    await uow.execute(_RECORD_MAILBOX, mailbox_hash, now)
