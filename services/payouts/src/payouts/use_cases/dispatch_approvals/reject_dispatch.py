"""Reject a prepared payout run."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.store import dispatch_approvals


async def reject_dispatch(uow: UnitOfWork, batch_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the run: nothing is sent, and another preview may be prepared. Raises as `evaluate_rejection` does."""
    prepared = await dispatch_approvals.lock_approval(uow, batch_id)
    await dispatch_approvals.TABLE.reject(uow, batch_id, prepared, by, now, reason)
