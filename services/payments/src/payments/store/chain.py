"""SQL for writes: when the book is verified next."""

from datetime import datetime
from typing import Final

from common.database import UnitOfWork

_CLAIM_VERIFICATION: Final = """
UPDATE ledger_chain SET verify_at = $2 WHERE verify_at IS NULL OR verify_at <= $1 RETURNING true
"""
_SAVE_VERIFICATION: Final = "UPDATE ledger_chain SET verify_at = $1"


async def claim_verification(uow: UnitOfWork, now: datetime, again_at: datetime) -> bool:
    """Whether the verification is due; then it is nobody else's until `again_at`."""
    return bool(await uow.fetch_value(_CLAIM_VERIFICATION, now, again_at))


async def save_next_verification(uow: UnitOfWork, verify_at: datetime) -> None:
    await uow.execute(_SAVE_VERIFICATION, verify_at)
