"""Reject a prepared reconciliation."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payouts.store import reconciliations, returns


async def reject_reconciliation(uow: UnitOfWork, reconciliation_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject without a posting; the payout may be prepared again. Raises NotFound, and the errors of
    `evaluate_rejection`.
    """
    found = await reconciliations.find_reconciliation(uow, reconciliation_id)
    if found is None:
        raise NotFound
    await returns.lock_payout_with_attempts(uow, found.payout_id)
    prepared = await reconciliations.find_reconciliation(uow, reconciliation_id, lock=True)
    if prepared is None:
        raise AssertionError("a reconciliation is never removed")
    if await reconciliations.TABLE.reject(uow, reconciliation_id, prepared.decision, by, now, reason):
        await returns.record_payout_action(uow, prepared.payout_id, reconciliation_id, "rejected", by, reason, now)
