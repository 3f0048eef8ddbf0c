# ruff: noqa: S105 - statements about tokens and password hashes are no passwords
"""SQL for writes, and the reads that a write decides on. All of it runs as the service itself, but `save_profile`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork
from contracts.permissions import leading_role
from identity.credentials.signing_keys import SealedKey
from identity.domain.institutions import Institution
from identity.domain.referrals import Provisioned, Referrer
from identity.domain.sessions import ShownToken
from identity.domain.standing import SignIn, Standing

# -- people -----------------------------------------------------------------------------------------------------------

# Two profiles of one mailbox at the same moment would each believe to be the first one.
_LOCK_MAILBOX: Final = "SELECT pg_advisory_xact_lock(hashtextextended('mailbox:' || $1, 0))"
_FIND_CAMPUS: Final = "SELECT id FROM campuses WHERE domain = $1"
_RECORD_CAMPUS: Final = """
INSERT INTO campuses (id, name, domain, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING id
"""
_RECORD_PROFILE: Final = """
INSERT INTO profiles (id, email, mailbox, phone, full_name, campus_id, referral_token, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
ON CONFLICT (id) DO NOTHING RETURNING true
"""
_FIND_PROVISIONED: Final = """
SELECT id, campus_id, referral_applied, referral_reward_minor, referral_reason FROM profiles WHERE id = $1
"""
_FIND_REFERRER: Final = "SELECT id, mailbox FROM profiles WHERE referral_token = $1"
_MAILBOX_KNOWN: Final = "SELECT EXISTS (SELECT FROM profiles WHERE mailbox = $1 AND id <> $2)"
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
_SAVE_PROFILE: Final = """
UPDATE profiles SET full_name = $3, phone = $4, revision = revision + 1, updated_at = $5
WHERE id = $1 AND revision = $2 RETURNING revision
"""


async def lock_mailbox(uow: UnitOfWork, mailbox: str) -> None:
    """One profile at a time for one mailbox, until the transaction ends."""
    await uow.execute(_LOCK_MAILBOX, mailbox)


async def find_campus_id(uow: UnitOfWork, domain: str) -> UUID | None:
    found: UUID | None = await uow.fetch_value(_FIND_CAMPUS, domain)
    return found


async def record_campus_once(uow: UnitOfWork, institution: Institution, now: datetime) -> bool:
    """Whether this made the campus; otherwise it stands already."""
    values = (institution.campus_id, institution.name, institution.domain, now)
    return await uow.fetch_value(_RECORD_CAMPUS, *values) is not None


async def record_profile_once(
    uow: UnitOfWork,
    *,
    user_id: UUID,
    email: str,
    mailbox: str,
    phone: str | None,
    full_name: str | None,
    campus_id: UUID | None,
    referral_token: str,
    now: datetime,
) -> bool:
    """Whether this made the profile. Two at once: the second waits for the first, and then finds it."""
    values = (user_id, email, mailbox, phone, full_name, campus_id, referral_token, now)
    return bool(await uow.fetch_value(_RECORD_PROFILE, *values))


async def find_provisioned(uow: UnitOfWork, user_id: UUID) -> Provisioned:
    row = await uow.fetch_row(_FIND_PROVISIONED, user_id)
    if row is None:
        raise LookupError("the profile was there a moment ago, and profiles are never deleted")
    return Provisioned(*row)


async def find_referrer(uow: UnitOfWork, referral_token: str) -> Referrer | None:
    row = await uow.fetch_row(_FIND_REFERRER, referral_token)
    return Referrer(row["id"], row["mailbox"]) if row else None


async def is_mailbox_known(uow: UnitOfWork, mailbox: str, *, besides: UUID) -> bool:
    return bool(await uow.fetch_value(_MAILBOX_KNOWN, mailbox, besides))


async def record_referral(
    uow: UnitOfWork, *, user_id: UUID, referrer_id: UUID, mailbox: str, reward_minor: int, now: datetime
) -> None:
    await uow.execute(_RECORD_REFERRAL, user_id, referrer_id, mailbox, reward_minor, now)


async def save_referral_outcome(
    uow: UnitOfWork, user_id: UUID, *, applied: bool, reward_minor: int, reason: str | None
) -> None:
    await uow.execute(_SAVE_REFERRAL_OUTCOME, user_id, applied, reward_minor, reason)


async def record_role_once(
    uow: UnitOfWork,
    user_id: UUID,
    role: str,
    now: datetime,
    *,
    campus_id: UUID | None = None,
    hub_id: UUID | None = None,
) -> bool:
    return bool(await uow.fetch_value(_RECORD_ROLE, user_id, role, campus_id, hub_id, None, now))


async def save_profile(
    uow: UnitOfWork, user_id: UUID, revision: int, *, full_name: str | None, phone: str | None, now: datetime
) -> bool:
    """Whether the profile still had this revision. Runs as the caller, whose policy allows only their own row."""
    return await uow.fetch_value(_SAVE_PROFILE, user_id, revision, full_name, phone, now) is not None


# -- accounts and sessions --------------------------------------------------------------------------------------------

_RECORD_ACCOUNT: Final = """
INSERT INTO accounts (user_id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (email) DO NOTHING RETURNING true
"""
_COUNT_REPEATED_SIGN_UP: Final = "UPDATE accounts SET repeated_sign_ups = repeated_sign_ups + 1 WHERE email = $1"
_FIND_ACCOUNT: Final = "SELECT user_id, password_hash FROM accounts WHERE email = $1"
_SAVE_PASSWORD_HASH: Final = "UPDATE accounts SET password_hash = $3 WHERE user_id = $1 AND password_hash = $2"
_FIND_STANDING: Final = """
SELECT p.id, p.campus_id AS home_campus_id,
    array(SELECT role FROM role_grants WHERE user_id = p.id ORDER BY role) AS roles,
    (SELECT campus_id FROM role_grants WHERE user_id = p.id AND campus_id IS NOT NULL ORDER BY role LIMIT 1) AS office_campus_id,
    (SELECT id FROM vendors WHERE owner_user_id = p.id AND status = 'active') AS vendor_id,
    EXISTS (SELECT FROM totp_factors WHERE user_id = p.id AND confirmed_at IS NOT NULL) AS has_second_factor
FROM profiles p WHERE p.id = $1
"""
_RECORD_SESSION: Final = "INSERT INTO sessions (id, user_id, signed_in_at) VALUES ($1, $2, $3)"
_RECORD_REFRESH_TOKEN: Final = """
INSERT INTO refresh_tokens (token_hash, session_id, stepped_up_at, issued_at, expires_at) VALUES ($1, $2, $3, $4, $5)
"""
# The session's row is the lock of its family: of two exchanges of one token the second sees that it was used.
_LOCK_SESSION_OF_TOKEN: Final = """
SELECT s.id FROM sessions s
WHERE s.id = (SELECT session_id FROM refresh_tokens WHERE token_hash = $1) FOR UPDATE
"""
_FIND_REFRESH_TOKEN: Final = """
SELECT t.session_id, s.user_id, s.signed_in_at, t.stepped_up_at, t.expires_at, t.used_at,
    s.ended_at IS NOT NULL AS session_ended
FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id WHERE t.token_hash = $1
"""
_MARK_REFRESH_TOKEN_USED: Final = "UPDATE refresh_tokens SET used_at = $2 WHERE token_hash = $1"
_LOCK_SESSION: Final = """
SELECT signed_in_at FROM sessions WHERE id = $1 AND user_id = $2 AND ended_at IS NULL FOR UPDATE
"""
_END_SESSION: Final = """
UPDATE sessions SET ended_at = $3, ended_because = $4 WHERE id = $1 AND user_id = $2 AND ended_at IS NULL RETURNING true
"""
# A session without tokens can be neither refreshed nor stepped up; its last access token ended long before.
_FORGET_EXPIRED_REFRESH_TOKENS: Final = """
DELETE FROM refresh_tokens WHERE token_hash IN (
    SELECT token_hash FROM refresh_tokens WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED
)
"""
_FORGET_EMPTY_SESSIONS: Final = """
DELETE FROM sessions WHERE id IN (
    SELECT s.id FROM sessions s
    WHERE s.signed_in_at <= $1 AND NOT EXISTS (SELECT FROM refresh_tokens t WHERE t.session_id = s.id)
    LIMIT $2 FOR UPDATE SKIP LOCKED
)
"""


async def record_account_once(uow: UnitOfWork, user_id: UUID, email: str, password_hash: str, now: datetime) -> bool:
    """Whether the address was free."""
    return bool(await uow.fetch_value(_RECORD_ACCOUNT, user_id, email, password_hash, now))


async def count_repeated_sign_up(uow: UnitOfWork, email: str) -> None:
    await uow.execute(_COUNT_REPEATED_SIGN_UP, email)


async def find_account(uow: UnitOfWork, email: str) -> tuple[UUID, str] | None:
    """User id and password hash of a normal address."""
    row = await uow.fetch_row(_FIND_ACCOUNT, email)
    return (row["user_id"], row["password_hash"]) if row else None


async def save_password_hash(uow: UnitOfWork, user_id: UUID, old: str, new: str) -> None:
    """Replaces the hash unless it was replaced meanwhile."""
    await uow.execute(_SAVE_PASSWORD_HASH, user_id, old, new)


async def find_standing(uow: UnitOfWork, user_id: UUID) -> Standing:
    """Who the person is at this moment."""
    row = await uow.fetch_row(_FIND_STANDING, user_id)
    if row is None:
        raise LookupError("an account has a profile")
    return Standing(
        user_id=row["id"],
        role=leading_role(row["roles"]),
        roles=tuple(row["roles"]),
        campus_id=row["office_campus_id"] or row["home_campus_id"],
        vendor_id=row["vendor_id"],
        has_second_factor=row["has_second_factor"],
    )


async def record_session(uow: UnitOfWork, user_id: UUID, sign_in: SignIn) -> None:
    await uow.execute(_RECORD_SESSION, sign_in.session_id, user_id, sign_in.signed_in_at)


async def record_refresh_token(
    uow: UnitOfWork, token_hash: bytes, sign_in: SignIn, *, issued_at: datetime, expires_at: datetime
) -> None:
    values = (token_hash, sign_in.session_id, sign_in.stepped_up_at, issued_at, expires_at)
    await uow.execute(_RECORD_REFRESH_TOKEN, *values)


async def lock_refresh_token(uow: UnitOfWork, token_hash: bytes) -> ShownToken | None:
    """The token with its session, whose row stays locked until the transaction ends."""
    if await uow.fetch_value(_LOCK_SESSION_OF_TOKEN, token_hash) is None:
        return None
    # A second statement: under READ COMMITTED it sees what the one that held the lock before has committed.
    row = await uow.fetch_row(_FIND_REFRESH_TOKEN, token_hash)
    return ShownToken(**row) if row else None


async def mark_refresh_token_used(uow: UnitOfWork, token_hash: bytes, now: datetime) -> None:
    await uow.execute(_MARK_REFRESH_TOKEN_USED, token_hash, now)


async def lock_session(uow: UnitOfWork, session_id: UUID, user_id: UUID) -> SignIn | None:
    """The user's session while it lasts, locked until the transaction ends."""
    signed_in_at = await uow.fetch_value(_LOCK_SESSION, session_id, user_id)
    return SignIn(session_id, signed_in_at) if signed_in_at else None


async def end_session_once(uow: UnitOfWork, session_id: UUID, user_id: UUID, now: datetime, because: str) -> bool:
    """Whether this ended the session; otherwise it had ended before."""
    return bool(await uow.fetch_value(_END_SESSION, session_id, user_id, now, because))


async def forget_expired_refresh_tokens(uow: UnitOfWork, now: datetime, rows_max: int) -> int:
    return await uow.execute(_FORGET_EXPIRED_REFRESH_TOKENS, now, rows_max)


async def forget_empty_sessions(uow: UnitOfWork, now: datetime, rows_max: int) -> int:
    """Sessions begun in this very moment have their first token in the same transaction."""
    return await uow.execute(_FORGET_EMPTY_SESSIONS, now, rows_max)


# -- second factors ---------------------------------------------------------------------------------------------------

_LOCK_ACCOUNT: Final = "SELECT email, code_failures, code_blocked_until FROM accounts WHERE user_id = $1 FOR UPDATE"
_FACTORS: Final = """
SELECT id, secret_sealed, last_counter, confirmed_at IS NOT NULL AS confirmed FROM totp_factors
WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT 20
"""
_FORGET_UNCONFIRMED: Final = "DELETE FROM totp_factors WHERE user_id = $1 AND confirmed_at IS NULL"
_RECORD_FACTOR: Final = """
INSERT INTO totp_factors (id, user_id, secret_sealed, created_at, confirmed_at) VALUES ($1, $2, $3, $4, $5)
"""
_SAVE_FACTOR_USED: Final = """
UPDATE totp_factors SET last_counter = $2, confirmed_at = coalesce(confirmed_at, $3) WHERE id = $1
"""
_SAVE_CODE_FAILURES: Final = "UPDATE accounts SET code_failures = $2, code_blocked_until = $3 WHERE user_id = $1"


@dataclass(frozen=True, slots=True)
class LockedAccount:
    """An account in hand, for everything that concerns its second factors."""

    email: str
    code_failures: int
    code_blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class Factor:
    id: UUID
    secret_sealed: str
    last_counter: int
    confirmed: bool


async def lock_account(uow: UnitOfWork, user_id: UUID) -> LockedAccount | None:
    """One code at a time for one account: two at once must not both find the code unused."""
    row = await uow.fetch_row(_LOCK_ACCOUNT, user_id)
    return LockedAccount(*row) if row else None


async def list_factors(uow: UnitOfWork, user_id: UUID) -> list[Factor]:
    """Newest first."""
    return [Factor(*row) for row in await uow.fetch(_FACTORS, user_id)]


async def forget_unconfirmed_factors(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_FORGET_UNCONFIRMED, user_id)


async def record_factor(
    uow: UnitOfWork, factor_id: UUID, user_id: UUID, secret_sealed: str, now: datetime, *, confirmed: bool = False
) -> None:
    await uow.execute(_RECORD_FACTOR, factor_id, user_id, secret_sealed, now, now if confirmed else None)


async def save_factor_used(uow: UnitOfWork, factor_id: UUID, counter: int, now: datetime) -> None:
    await uow.execute(_SAVE_FACTOR_USED, factor_id, counter, now)


async def save_code_failures(
    uow: UnitOfWork, user_id: UUID, failures: int, code_blocked_until: datetime | None
) -> None:
    await uow.execute(_SAVE_CODE_FAILURES, user_id, failures, code_blocked_until)


# -- signing keys -----------------------------------------------------------------------------------------------------

# Three processes that start at once on an empty system make one key and one administrator.
_LOCK_FOUNDATIONS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('foundations', 0))"
_CURRENT_KEY: Final = "SELECT kid, private_key_sealed FROM signing_keys WHERE state = 'current'"
_RECORD_KEY: Final = """
INSERT INTO signing_keys (kid, public_key, private_key_sealed, state, created_at) VALUES ($1, $2, $3, 'current', $4)
"""


async def lock_foundations(uow: UnitOfWork) -> None:
    await uow.execute(_LOCK_FOUNDATIONS)


async def find_current_key(uow: UnitOfWork) -> tuple[str, str] | None:
    """`kid` and sealed private key."""
    row = await uow.fetch_row(_CURRENT_KEY)
    return (row["kid"], row["private_key_sealed"]) if row else None


async def record_current_key(uow: UnitOfWork, key: SealedKey, now: datetime) -> None:
    public_key: dict[str, Any] = dict(key.public_key)
    await uow.execute(_RECORD_KEY, key.kid, public_key, key.private_key_sealed, now)
