"""One-time codes by purpose and address, and the confirmation of addresses."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.one_time_codes import Destination, Issuable, IssuedCode, Purpose

# Two concurrent requests for one address would each consider themselves the first.
_LOCK_ADDRESS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('code:' || encode($1, 'hex'), 0))"
_COLUMNS: Final = """
SELECT id, code_hash, issued_at, expires_at, tries, used_at,
    hour_began_at, issued_in_hour, day_began_at, issued_in_day, user_id
FROM one_time_codes
"""
_FIND_CODE: Final = f"{_COLUMNS} WHERE purpose = $1 AND address_hash = $2"
_LOCK_CODE: Final = f"{_COLUMNS} WHERE purpose = $1 AND address_hash = $2 FOR UPDATE"
_FIND_RESET: Final = f"{_COLUMNS} WHERE purpose = 'password_reset' AND code_hash = $1"
_LOCK_RESET: Final = f"{_COLUMNS} WHERE purpose = 'password_reset' AND code_hash = $1 FOR UPDATE"
_SAVE_CODE: Final = """
INSERT INTO one_time_codes (purpose, address_hash, id, code_hash, issued_at, expires_at,
    hour_began_at, issued_in_hour, day_began_at, issued_in_day)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (purpose, address_hash) DO UPDATE SET id = excluded.id, code_hash = excluded.code_hash,
    issued_at = excluded.issued_at, expires_at = excluded.expires_at, tries = 0, used_at = NULL, user_id = NULL,
    hour_began_at = excluded.hour_began_at, issued_in_hour = excluded.issued_in_hour,
    day_began_at = excluded.day_began_at, issued_in_day = excluded.issued_in_day
"""
_SAVE_RECIPIENT: Final = "UPDATE one_time_codes SET user_id = $2 WHERE id = $1"
_COUNT_TRY: Final = "UPDATE one_time_codes SET tries = tries + 1 WHERE id = $1"
_MARK_USED: Final = "UPDATE one_time_codes SET used_at = $2 WHERE id = $1"
_END_CODES: Final = (
    "UPDATE one_time_codes SET expires_at = $2 WHERE user_id = $1 AND used_at IS NULL AND expires_at > $2"
)
_USER_OF_EMAIL: Final = "SELECT user_id FROM accounts WHERE email = $1"
# A code by SMS signs in the user who confirmed the number (contract section 10.1), however many accounts name it.
_USER_OF_PHONE: Final = "SELECT id FROM profiles WHERE confirmed_phone = $1 AND phone = $1 AND erased_at IS NULL"
_NAMES_PHONE: Final = "SELECT EXISTS (SELECT FROM profiles WHERE id = $1 AND phone = $2 AND erased_at IS NULL)"
# An account of a further issuer has no address, and no sign-in here opens it.
_SIGNS_IN_HERE: Final = "SELECT EXISTS (SELECT FROM accounts WHERE user_id = $1 AND email IS NOT NULL)"
_IS_SUSPENDED: Final = "SELECT EXISTS (SELECT FROM suspensions WHERE user_id = $1)"
_CONFIRM_EMAIL: Final = """
UPDATE profiles SET confirmed_email = $2 WHERE id = $1 AND email = $2 AND confirmed_email IS DISTINCT FROM $2 RETURNING true
"""
_IS_EMAIL_CONFIRMED: Final = "SELECT confirmed_email IS NOT DISTINCT FROM email FROM profiles WHERE id = $1"
_UNCONFIRM_PHONE_OF_OTHERS: Final = (
    "UPDATE profiles SET confirmed_phone = NULL WHERE confirmed_phone = $2 AND id <> $1 RETURNING id"
)
_CONFIRM_PHONE: Final = """
UPDATE profiles SET confirmed_phone = $2 WHERE id = $1 AND phone = $2 AND confirmed_phone IS DISTINCT FROM $2 RETURNING id
"""


async def lock_address(uow: UnitOfWork, address_hash: bytes) -> None:
    """Serialize the requests for one address until the transaction ends."""
    await uow.execute(_LOCK_ADDRESS, address_hash)


async def find_code(uow: UnitOfWork, purpose: Purpose, address_hash: bytes) -> IssuedCode | None:
    return _code(await uow.fetch_row(_FIND_CODE, purpose, address_hash))


async def lock_code(uow: UnitOfWork, purpose: Purpose, address_hash: bytes) -> IssuedCode | None:
    """Return the code, locked: of two concurrent redemptions the second finds it used."""
    return _code(await uow.fetch_row(_LOCK_CODE, purpose, address_hash))


async def find_reset(uow: UnitOfWork, token_hash: bytes) -> IssuedCode | None:
    return _code(await uow.fetch_row(_FIND_RESET, token_hash))


async def lock_reset(uow: UnitOfWork, token_hash: bytes) -> IssuedCode | None:
    return _code(await uow.fetch_row(_LOCK_RESET, token_hash))


async def save_code(
    uow: UnitOfWork,
    purpose: Purpose,
    address_hash: bytes,
    code_id: UUID,
    code_hash: bytes,
    counted: Issuable,
    *,
    now: datetime,
    expires_at: datetime,
) -> None:
    """Replace the code of this purpose and address."""
    windows = (counted.hour_began_at, counted.issued_in_hour, counted.day_began_at, counted.issued_in_day)
    await uow.execute(_SAVE_CODE, purpose, address_hash, code_id, code_hash, now, expires_at, *windows)


async def save_recipient(uow: UnitOfWork, code_id: UUID, user_id: UUID) -> None:
    await uow.execute(_SAVE_RECIPIENT, code_id, user_id)


async def count_try(uow: UnitOfWork, code_id: UUID) -> None:
    await uow.execute(_COUNT_TRY, code_id)


async def mark_used(uow: UnitOfWork, code_id: UUID, now: datetime) -> None:
    await uow.execute(_MARK_USED, code_id, now)


async def expire_codes(uow: UnitOfWork, user_id: UUID, now: datetime) -> None:
    """Expire every unused code sent to this user."""
    await uow.execute(_END_CODES, user_id, now)


async def find_sign_in_user(uow: UnitOfWork, destination: Destination) -> UUID | None:
    """Return the user whom an address or confirmed number signs in; None for a suspended user."""
    statement = _USER_OF_EMAIL if destination.channel == "email" else _USER_OF_PHONE
    user_id: UUID | None = await uow.fetch_value(statement, destination.address)
    if user_id is None or not await uow.fetch_value(_SIGNS_IN_HERE, user_id):
        return None
    return None if await uow.fetch_value(_IS_SUSPENDED, user_id) else user_id


async def may_confirm_phone(uow: UnitOfWork, user_id: UUID, destination: Destination) -> bool:
    """Whether the user's profile names the number: only then may they confirm it."""
    if destination.channel != "sms" or not await uow.fetch_value(_NAMES_PHONE, user_id, destination.address):
        return False
    return not await uow.fetch_value(_IS_SUSPENDED, user_id)


async def is_email_confirmed(uow: UnitOfWork, user_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_EMAIL_CONFIRMED, user_id))


async def save_confirmed_email(uow: UnitOfWork, user_id: UUID, email: str) -> bool:
    """Return whether this is the first confirmation of the profile's address."""
    return bool(await uow.fetch_value(_CONFIRM_EMAIL, user_id, email))


async def save_confirmed_phone(uow: UnitOfWork, user_id: UUID, phone: str) -> list[UUID]:
    """Confirm the number for this user only; return the users whose confirmation changed."""
    before = await uow.fetch(_UNCONFIRM_PHONE_OF_OTHERS, user_id, phone)
    now = await uow.fetch(_CONFIRM_PHONE, user_id, phone)
    return [row["id"] for row in (*before, *now)]


def _code(row: Any) -> IssuedCode | None:
    return IssuedCode(**row) if row else None
