"""Release a payout that finance holds."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payouts.domain.errors import PayoutNotHeld
from payouts.store import payout_holds, returns


async def release_payout(uow: UnitOfWork, payout_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """End the hold; the next dispatch may send the payout. Raises NotFound and PayoutNotHeld (409)."""
    if await returns.lock_payout_with_attempts(uow, payout_id) is None:
        raise NotFound
    if not await payout_holds.save_released(uow, payout_id, reason, by, now):
        raise PayoutNotHeld
