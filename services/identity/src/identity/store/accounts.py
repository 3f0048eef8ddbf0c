# ruff: noqa: S105 - statements about tokens and password hashes are no passwords
"""Accounts: credentials, and the authorization profile of a user."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.permissions import leading_role
from identity.domain.authorization_profile import AuthorizationProfile

_RECORD_ACCOUNT: Final = """
INSERT INTO accounts (user_id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (email) DO NOTHING RETURNING true
"""
_RECORD_FOREIGN_ACCOUNT: Final = """
INSERT INTO accounts (user_id, created_at) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING
"""
_COUNT_REPEATED_SIGN_UP: Final = "UPDATE accounts SET repeated_sign_ups = repeated_sign_ups + 1 WHERE email = $1"
_FIND_ACCOUNT: Final = "SELECT user_id FROM accounts WHERE email = $1"
_FIND_OPEN_ACCOUNT: Final = """
SELECT a.user_id, a.password_hash, p.confirmed_email IS NOT DISTINCT FROM p.email AS is_confirmed
FROM accounts a JOIN profiles p ON p.id = a.user_id
WHERE a.email = $1 AND NOT EXISTS (SELECT FROM suspensions s WHERE s.user_id = a.user_id)
"""
_FIND_EMAIL: Final = "SELECT email FROM accounts WHERE user_id = $1"
_LOCK_PASSWORD_HASH: Final = "SELECT password_hash FROM accounts WHERE user_id = $1 FOR NO KEY UPDATE"
_SAVE_PASSWORD_HASH: Final = "UPDATE accounts SET password_hash = $3 WHERE user_id = $1 AND password_hash = $2"
_SET_PASSWORD_HASH: Final = "UPDATE accounts SET password_hash = $2 WHERE user_id = $1"
_FIND_PROFILE: Final = """
SELECT p.id, p.campus_id AS home_campus_id,
    array(SELECT role FROM role_grants WHERE user_id = p.id
        UNION ALL SELECT 'shop_' || m.role WHERE m.role IS NOT NULL ORDER BY role) AS roles,
    (SELECT campus_id FROM role_grants WHERE user_id = p.id AND campus_id IS NOT NULL ORDER BY role
        LIMIT 1) AS office_campus_id,
    (SELECT hub_id FROM role_grants WHERE user_id = p.id AND role = 'hub_agent') AS hub_id,
    coalesce(
        (SELECT id FROM vendors WHERE owner_user_id = p.id),
        CASE WHEN m.role = 'manager' THEN m.vendor_id END
    ) AS vendor_id,
    CASE WHEN m.role = 'packer' THEN m.vendor_id END AS packing_vendor_id,
    EXISTS (SELECT FROM totp_factors WHERE user_id = p.id AND confirmed_at IS NOT NULL)
        OR EXISTS (SELECT FROM passkeys WHERE user_id = p.id) AS has_second_factor,
    EXISTS (SELECT FROM suspensions WHERE user_id = p.id) AS is_suspended,
    p.confirmed_email IS NOT DISTINCT FROM p.email AS email_confirmed,
    EXISTS (SELECT FROM accounts WHERE user_id = p.id AND email IS NOT NULL) AS signs_in_here
FROM profiles p LEFT JOIN (shop_members m JOIN vendors v ON v.id = m.vendor_id AND v.status <> 'closed')
    ON m.user_id = p.id
WHERE p.id = $1
"""

# An account of a further issuer has no address; the authenticator app shows the profile's.
_LOCK_ACCOUNT: Final = """
SELECT coalesce(a.email, p.email), a.code_failures, a.code_blocked_until
FROM accounts a JOIN profiles p ON p.id = a.user_id WHERE a.user_id = $1 FOR UPDATE OF a
"""
_SAVE_CODE_FAILURES: Final = "UPDATE accounts SET code_failures = $2, code_blocked_until = $3 WHERE user_id = $1"


async def record_account_if_new(uow: UnitOfWork, user_id: UUID, email: str, password_hash: str, now: datetime) -> bool:
    """Return False when an account with this address exists."""
    return bool(await uow.fetch_value(_RECORD_ACCOUNT, user_id, email, password_hash, now))


async def record_federated_account_if_new(uow: UnitOfWork, user_id: UUID, now: datetime) -> None:
    """Create the account of a further issuer's user: without address and password, so a login to it is impossible."""
    await uow.execute(_RECORD_FOREIGN_ACCOUNT, user_id, now)


async def count_repeated_sign_up(uow: UnitOfWork, email: str) -> None:
    await uow.execute(_COUNT_REPEATED_SIGN_UP, email)


async def find_account(uow: UnitOfWork, email: str) -> UUID | None:
    """Return the user id of a normal address."""
    user_id: UUID | None = await uow.fetch_value(_FIND_ACCOUNT, email)
    return user_id


@dataclass(frozen=True, slots=True)
class OpenAccount:
    """An account for a login. The password is None after a first confirmation without it."""

    user_id: UUID
    password_hash: str | None
    is_confirmed: bool


async def find_open_account(uow: UnitOfWork, email: str) -> OpenAccount | None:
    """Return the account of a normal address. A suspended user's address counts as unknown."""
    row = await uow.fetch_row(_FIND_OPEN_ACCOUNT, email)
    return OpenAccount(**row) if row else None


async def find_email(uow: UnitOfWork, user_id: UUID) -> str | None:
    """Return the address that the user logs in with."""
    email: str | None = await uow.fetch_value(_FIND_EMAIL, user_id)
    return email


async def lock_password_hash(uow: UnitOfWork, user_id: UUID) -> str | None:
    """Return the current hash, locked until the transaction ends."""
    password_hash: str | None = await uow.fetch_value(_LOCK_PASSWORD_HASH, user_id)
    return password_hash


async def save_password_hash(uow: UnitOfWork, user_id: UUID, old: str, new: str) -> None:
    """Replace the hash unless it has changed since."""
    await uow.execute(_SAVE_PASSWORD_HASH, user_id, old, new)


async def set_password_hash(uow: UnitOfWork, user_id: UUID, password_hash: str | None) -> None:
    """Replace the hash. Call `lock_password_hash` before."""
    await uow.execute(_SET_PASSWORD_HASH, user_id, password_hash)


async def find_authorization_profile(uow: UnitOfWork, user_id: UUID) -> AuthorizationProfile:
    """Return the user's current roles, campus, hub and vendor."""
    row = await uow.fetch_row(_FIND_PROFILE, user_id)
    if row is None:
        raise LookupError("an account has a profile")
    profile = AuthorizationProfile(
        user_id=row["id"],
        role=leading_role(row["roles"]),
        roles=tuple(row["roles"]),
        campus_id=row["office_campus_id"] or row["home_campus_id"],
        vendor_id=row["vendor_id"],
        has_second_factor=row["has_second_factor"],
        is_suspended=row["is_suspended"],
        email_confirmed=row["email_confirmed"],
        signs_in_here=row["signs_in_here"],
        hub_id=row["hub_id"],
        packing_vendor_id=row["packing_vendor_id"],
    )
    return profile if profile.email_confirmed else profile.without_email_rights()


@dataclass(frozen=True, slots=True)
class LockedAccount:
    """A locked account, for changes of its second factors."""

    email: str
    code_failures: int
    code_blocked_until: datetime | None


async def lock_account(uow: UnitOfWork, user_id: UUID) -> LockedAccount | None:
    """Lock the account, so that two concurrent requests cannot both find a code unused."""
    row = await uow.fetch_row(_LOCK_ACCOUNT, user_id)
    return LockedAccount(*row) if row else None


async def save_code_failures(
    uow: UnitOfWork, user_id: UUID, failures: int, code_blocked_until: datetime | None
) -> None:
    await uow.execute(_SAVE_CODE_FAILURES, user_id, failures, code_blocked_until)
