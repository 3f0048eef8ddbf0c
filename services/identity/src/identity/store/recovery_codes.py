"""Recovery codes, of which only keyed hashes are stored."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

_DELETE: Final = "DELETE FROM recovery_codes WHERE user_id = $1"
_RECORD: Final = "INSERT INTO recovery_codes (user_id, code_hash, created_at) VALUES ($1, $2, $3)"
_WAS_USED_SINCE: Final = "SELECT EXISTS (SELECT FROM recovery_codes WHERE user_id = $1 AND used_at >= $2)"
_USE_CODE: Final = """
UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL RETURNING true
"""


async def delete_recovery_codes(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_DELETE, user_id)


async def record_recovery_codes(uow: UnitOfWork, user_id: UUID, hashes: Sequence[bytes], now: datetime) -> None:
    await uow.execute_many(_RECORD, [(user_id, code_hash, now) for code_hash in hashes])


async def was_code_used_since(uow: UnitOfWork, user_id: UUID, at: datetime) -> bool:
    return bool(await uow.fetch_value(_WAS_USED_SINCE, user_id, at))


async def claim_recovery_code(uow: UnitOfWork, user_id: UUID, code_hash: bytes, now: datetime) -> bool:
    """Mark the code as used. Return False for a wrong or used one; of two concurrent uses one succeeds."""
    return bool(await uow.fetch_value(_USE_CODE, user_id, code_hash, now))
