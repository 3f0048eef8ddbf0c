"""TOTP factors, and the removal of any factor."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain import second_factors

_FACTORS: Final = """
SELECT id, secret_sealed, last_counter, confirmed_at IS NOT NULL AS confirmed FROM totp_factors
WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT 20
"""
_DELETE_UNCONFIRMED: Final = "DELETE FROM totp_factors WHERE user_id = $1 AND confirmed_at IS NULL"
_DELETE_ALL: Final = "DELETE FROM totp_factors WHERE user_id = $1"
_RECORD_FACTOR: Final = """
INSERT INTO totp_factors (id, user_id, secret_sealed, created_at, confirmed_at, name) VALUES ($1, $2, $3, $4, $5, $6)
"""
_SAVE_FACTOR_USED: Final = """
UPDATE totp_factors SET last_counter = $2, confirmed_at = coalesce(confirmed_at, $3), last_used_at = $3 WHERE id = $1
"""
_REMOVE_TOTP: Final = "DELETE FROM totp_factors WHERE id = $1 AND user_id = $2"
_REMOVE_PASSKEY: Final = "DELETE FROM passkeys WHERE id = $1 AND user_id = $2"


@dataclass(frozen=True, slots=True)
class Factor:
    id: UUID
    encrypted_secret: str
    last_counter: int
    confirmed: bool


async def list_factors(uow: UnitOfWork, user_id: UUID) -> list[Factor]:
    """Return the TOTP factors, newest first."""
    return [Factor(*row) for row in await uow.fetch(_FACTORS, user_id)]


async def delete_unconfirmed_factors(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_DELETE_UNCONFIRMED, user_id)


async def delete_factors(uow: UnitOfWork, user_id: UUID) -> None:
    """Delete every TOTP factor of the user."""
    await uow.execute(_DELETE_ALL, user_id)


async def record_factor(
    uow: UnitOfWork,
    factor_id: UUID,
    user_id: UUID,
    encrypted_secret: str,
    now: datetime,
    *,
    confirmed: bool = False,
    name: str | None = None,
) -> None:
    await uow.execute(_RECORD_FACTOR, factor_id, user_id, encrypted_secret, now, now if confirmed else None, name)


async def save_factor_used(uow: UnitOfWork, factor_id: UUID, counter: int, now: datetime) -> None:
    await uow.execute(_SAVE_FACTOR_USED, factor_id, counter, now)


async def remove_factor(uow: UnitOfWork, user_id: UUID, factor: second_factors.Factor) -> None:
    await uow.execute(_REMOVE_TOTP if factor.kind == "totp" else _REMOVE_PASSKEY, factor.id, user_id)
