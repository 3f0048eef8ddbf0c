"""Reject a prepared payout run."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import evaluate_rejection
from payouts.store import dispatch_approvals


async def reject_dispatch(uow: UnitOfWork, batch_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the run: nothing is sent, and another preview may be prepared. Raises as `evaluate_rejection` does."""
    if evaluate_rejection(await dispatch_approvals.lock_approval(uow, batch_id), by):
        await dispatch_approvals.save_verdict(uow, batch_id, "rejected", by, now, reason)
