"""One-time codes by purpose and address, and the confirmation of addresses."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from identity.domain.one_time_codes import CODES_OF_SOURCE_MAX, CodeKey, Destination, IssuedCode, Purpose

# Two concurrent requests for one address would each consider themselves the first.
_LOCK_ADDRESS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('code:' || encode($1, 'hex'), 0))"
_COLUMNS: Final = "SELECT id, code_hash, expires_at, tries, used_at, user_id FROM issued_codes"
_VALID: Final = "purpose = $1 AND address_hash = $2 AND used_at IS NULL AND expires_at > $3"
_LIST_VALID: Final = f"{_COLUMNS} WHERE {_VALID} ORDER BY id"
# In a fixed order, so that two transactions on the codes of one address cannot deadlock.
_LOCK_VALID: Final = f"{_LIST_VALID} FOR UPDATE"
_FIND_RESET: Final = f"{_COLUMNS} WHERE purpose = 'password_reset' AND code_hash = $1"
_LOCK_RESET: Final = f"{_FIND_RESET} FOR UPDATE"
_FIND_LAST_ISSUED: Final = """
SELECT max(issued_at) FROM issued_codes WHERE purpose = $1 AND address_hash = $2 AND source_hash = $3
"""
# Of those that its source requested. The caller has locked the codes of the address.
_DISPLACE: Final = f"""
UPDATE issued_codes SET expires_at = $2 WHERE id IN (
    SELECT sent.id FROM issued_codes newest JOIN issued_codes sent USING (purpose, address_hash, source_hash)
    WHERE newest.id = $1 AND sent.user_id IS NOT NULL AND sent.used_at IS NULL AND sent.expires_at > $2
    ORDER BY sent.issued_at DESC, sent.id DESC OFFSET {CODES_OF_SOURCE_MAX}
)
"""
_SAVE_CODE: Final = """
INSERT INTO issued_codes (id, purpose, address_hash, source_hash, code_hash, issued_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_SAVE_RECIPIENT: Final = "UPDATE issued_codes SET user_id = $2 WHERE id = $1"
_FIND_TRIES: Final = "SELECT code_id, tries FROM code_tries WHERE code_id = ANY ($1::uuid[]) AND source_hash = $2"
_COUNT_TRY: Final = "UPDATE issued_codes SET tries = tries + 1 WHERE id = ANY ($1::uuid[])"
_COUNT_TRY_OF_SOURCE: Final = """
INSERT INTO code_tries AS t (code_id, source_hash, tries) SELECT code_id, $2, 1 FROM unnest($1::uuid[]) AS code_id
ON CONFLICT (code_id, source_hash) DO UPDATE SET tries = t.tries + 1
"""
_MARK_USED: Final = "UPDATE issued_codes SET used_at = $2 WHERE id = $1"
_END_CODES_OF_ADDRESS: Final = f"""
WITH locked AS MATERIALIZED (SELECT id FROM issued_codes WHERE {_VALID} ORDER BY id FOR UPDATE)
UPDATE issued_codes SET expires_at = $3 FROM locked WHERE issued_codes.id = locked.id
"""
_END_CODES: Final = """
WITH locked AS MATERIALIZED (
    SELECT id FROM issued_codes WHERE user_id = $1 AND used_at IS NULL AND expires_at > $2 ORDER BY id FOR UPDATE
)
UPDATE issued_codes SET expires_at = $2 FROM locked WHERE issued_codes.id = locked.id
"""
_USER_OF_EMAIL: Final = "SELECT user_id FROM accounts WHERE email = $1"
# A code by SMS signs in the user who confirmed the number (contract section 10.1), however many accounts name it.
_USER_OF_PHONE: Final = "SELECT id FROM profiles WHERE confirmed_phone = $1 AND phone = $1 AND erased_at IS NULL"
_NAMES_PHONE: Final = "SELECT EXISTS (SELECT FROM profiles WHERE id = $1 AND phone = $2 AND erased_at IS NULL)"
# An account of a further issuer has no address, and no sign-in here opens it.
_SIGNS_IN_HERE: Final = "SELECT EXISTS (SELECT FROM accounts WHERE user_id = $1 AND email IS NOT NULL)"
_IS_SUSPENDED: Final = "SELECT EXISTS (SELECT FROM suspensions WHERE user_id = $1)"
_CONFIRM_EMAIL: Final = """
UPDATE profiles SET confirmed_email = $2 WHERE id = $1 AND email = $2 AND confirmed_email IS DISTINCT FROM $2
RETURNING true
"""
_IS_EMAIL_CONFIRMED: Final = "SELECT confirmed_email IS NOT DISTINCT FROM email FROM profiles WHERE id = $1"
_UNCONFIRM_PHONE_OF_OTHERS: Final = (
    "UPDATE profiles SET confirmed_phone = NULL WHERE confirmed_phone = $2 AND id <> $1 RETURNING id"
)
_CONFIRM_PHONE: Final = """
UPDATE profiles SET confirmed_phone = $2 WHERE id = $1 AND phone = $2 AND confirmed_phone IS DISTINCT FROM $2
RETURNING id
"""


async def lock_address(uow: UnitOfWork, address_hash: bytes) -> None:
    """Serialize the requests for one address until the transaction ends."""
    await uow.execute(_LOCK_ADDRESS, address_hash)


async def list_valid_codes(uow: UnitOfWork, purpose: Purpose, address_hash: bytes, now: datetime) -> list[IssuedCode]:
    """Return the unused and unexpired codes of an address."""
    return [IssuedCode(**row) for row in await uow.fetch(_LIST_VALID, purpose, address_hash, now)]


async def lock_valid_codes(uow: UnitOfWork, purpose: Purpose, address_hash: bytes, now: datetime) -> list[IssuedCode]:
    """Return them locked: of two concurrent redemptions the second finds none."""
    return [IssuedCode(**row) for row in await uow.fetch(_LOCK_VALID, purpose, address_hash, now)]


async def find_reset(uow: UnitOfWork, token_hash: bytes) -> IssuedCode | None:
    return _code(await uow.fetch_row(_FIND_RESET, token_hash))


async def lock_reset(uow: UnitOfWork, token_hash: bytes) -> IssuedCode | None:
    return _code(await uow.fetch_row(_LOCK_RESET, token_hash))


async def find_last_issued(uow: UnitOfWork, key: CodeKey) -> datetime | None:
    """Return the time of the source's last code for the address."""
    issued_at: datetime | None = await uow.fetch_value(_FIND_LAST_ISSUED, *key)
    return issued_at


async def save_code(
    uow: UnitOfWork, key: CodeKey, code_id: UUID, code_hash: bytes, *, now: datetime, expires_at: datetime
) -> None:
    await uow.execute(_SAVE_CODE, code_id, *key, code_hash, now, expires_at)


async def save_recipient(uow: UnitOfWork, code_id: UUID, user_id: UUID, now: datetime) -> None:
    """Record that a code is sent. Of the sent ones of its source the last two stay valid; the caller has locked
    them.
    """
    await uow.execute(_SAVE_RECIPIENT, code_id, user_id)
    await uow.execute(_DISPLACE, code_id, now)


async def find_tries(uow: UnitOfWork, code_ids: Sequence[UUID], source_hash: bytes) -> dict[UUID, int]:
    """Return the number of a source's wrong tries of each code. The caller has locked the codes."""
    rows = await uow.fetch(_FIND_TRIES, list(code_ids), source_hash)
    return {row["code_id"]: row["tries"] for row in rows}


async def count_wrong_try(uow: UnitOfWork, code_ids: Sequence[UUID], source_hash: bytes) -> None:
    """Count a wrong try of each code. The caller has locked the codes."""
    await uow.execute(_COUNT_TRY, list(code_ids))
    await uow.execute(_COUNT_TRY_OF_SOURCE, list(code_ids), source_hash)


async def mark_used(uow: UnitOfWork, code_id: UUID, now: datetime) -> None:
    await uow.execute(_MARK_USED, code_id, now)


async def expire_codes_of_address(uow: UnitOfWork, purpose: Purpose, address_hash: bytes, now: datetime) -> None:
    """Expire every unused code of an address."""
    await uow.execute(_END_CODES_OF_ADDRESS, purpose, address_hash, now)


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
    """Return whether the user's profile names the number: only then may they confirm it."""
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


def _code(row: asyncpg.Record | None) -> IssuedCode | None:
    return IssuedCode(**row) if row else None
