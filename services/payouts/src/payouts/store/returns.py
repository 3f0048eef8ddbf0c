"""SQL for writes that return a payout's amount to its vendor's wallet. Nothing here decides."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database import UnitOfWork
from payouts.domain.returns import PayoutInHand

_LOCK_PAYOUT: Final = """
SELECT vendor_id, amount, status, retry_count, transfer_reference FROM payout_requests WHERE id = $1 FOR UPDATE
"""
# With the payout's own lock held: a reserved attempt cannot begin to leave while this is decided.
_LOCK_ATTEMPTS: Final = "SELECT status FROM payout_transfers WHERE payout_id = $1 ORDER BY attempt FOR UPDATE"
_FIND_RETURN: Final = "SELECT kind FROM wallet_lines WHERE payout_id = $1 AND kind IN ('restitution', 'reversal')"
_MARK_FAILED: Final = """
UPDATE payout_requests SET status = 'failed', transfer_failure = $2, updated_at = $3 WHERE id = $1
"""
_WITHDRAW_UNSENT: Final = """
UPDATE payout_transfers SET status = 'failed', failure = $2, due_at = NULL, updated_at = $3
WHERE payout_id = $1 AND status = 'reserved'
"""


async def lock_payout_in_hand(uow: UnitOfWork, payout_id: UUID) -> PayoutInHand | None:
    """Holds the payout and all its attempts until the end of the unit of work, and reads them under the lock."""
    row = await uow.fetch_row(_LOCK_PAYOUT, payout_id)
    if row is None:
        return None
    attempts = tuple(attempt["status"] for attempt in await uow.fetch(_LOCK_ATTEMPTS, payout_id))
    returned = await uow.fetch_value(_FIND_RETURN, payout_id)
    return PayoutInHand(
        payout_id,
        row["vendor_id"],
        row["amount"],
        row["status"],
        row["retry_count"],
        row["transfer_reference"],
        attempts,
        returned,
    )


async def mark_failed(uow: UnitOfWork, payout_id: UUID, because: str, at: datetime) -> None:
    await uow.execute(_MARK_FAILED, payout_id, because, at)


async def withdraw_unsent_attempts(uow: UnitOfWork, payout_id: UUID, because: str, at: datetime) -> None:
    """An attempt that is written down and was never sent: nobody sends it any more."""
    await uow.execute(_WITHDRAW_UNSENT, payout_id, because, at)
