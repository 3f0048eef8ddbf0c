"""Passwords of sign-ups by address, with or without an account; address and password are stored as hashes only."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork

_RECORD: Final = """
INSERT INTO sign_up_passwords (address_hash, password_digest, created_at) VALUES ($1, $2, $3)
ON CONFLICT (address_hash, password_digest) DO UPDATE SET created_at = excluded.created_at
"""
_EXISTS: Final = "SELECT EXISTS (SELECT FROM sign_up_passwords WHERE address_hash = $1 AND password_digest = $2)"
_DELETE: Final = "DELETE FROM sign_up_passwords WHERE address_hash = $1"


async def record_sign_up_password(uow: UnitOfWork, address_hash: bytes, digest: bytes, now: datetime) -> None:
    await uow.execute(_RECORD, address_hash, digest, now)


async def is_sign_up_password(uow: UnitOfWork, address_hash: bytes, digest: bytes) -> bool:
    return bool(await uow.fetch_value(_EXISTS, address_hash, digest))


async def delete_sign_up_passwords(uow: UnitOfWork, address_hash: bytes) -> None:
    await uow.execute(_DELETE, address_hash)
