"""Second factors."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database import UnitOfWork

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


@dataclass(frozen=True, slots=True)
class Factor:
    id: UUID
    secret_sealed: str
    last_counter: int
    confirmed: bool


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
