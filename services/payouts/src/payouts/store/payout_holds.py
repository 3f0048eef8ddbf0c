"""SQL for writes to the holds of payouts by finance. Nothing here decides."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.returns import LockedPayout

_SAVE: Final = """
INSERT INTO payout_holds (id, payout_id, vendor_id, status, reason, held_by, held_at)
VALUES ($1, $2, $3, 'held', $4, $5, $6)
ON CONFLICT (payout_id) WHERE status = 'held' DO NOTHING
RETURNING (SELECT number FROM payout_requests WHERE id = payout_id)
"""
_RELEASE: Final = """
UPDATE payout_holds SET status = 'released', release_reason = $2, released_by = $3, released_at = $4
WHERE payout_id = $1 AND status = 'held'
"""
_IS_HELD: Final = "SELECT EXISTS (SELECT FROM payout_holds WHERE payout_id = $1 AND status = 'held')"


async def save_hold_if_new(
    uow: UnitOfWork, hold_id: UUID, payout: LockedPayout, reason: str, by: UUID, at: datetime
) -> str | None:
    """Save the hold of a locked payout and return its number; None when it is held already."""
    number: str | None = await uow.fetch_value(_SAVE, hold_id, payout.id, payout.vendor_id, reason, by, at)
    return number


async def save_released(uow: UnitOfWork, payout_id: UUID, reason: str, by: UUID, at: datetime) -> bool:
    """End the hold of a payout; False when it is not held."""
    return await uow.execute(_RELEASE, payout_id, reason, by, at) == 1


async def is_held(uow: UnitOfWork, payout_id: UUID) -> bool:
    """Return whether finance holds the payout, which must be locked."""
    held: bool = await uow.fetch_value(_IS_HELD, payout_id)
    return held
