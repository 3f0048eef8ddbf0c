"""Reject the prepared decision about a withdrawal."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import NothingPrepared, evaluate_rejection
from common.primitives.problems import NotFound
from payments.store import withdrawals


async def reject_withdrawal(uow: UnitOfWork, withdrawal_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the decision: the withdrawal waits again, and can be prepared again. Raises NotFound, and the errors of
    `evaluate_rejection`.
    """
    if await withdrawals.lock_withdrawal(uow, withdrawal_id) is None:
        raise NotFound
    found = await withdrawals.find_decision(uow, withdrawal_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_rejection(decision.prepared(status), by):
        return
    await withdrawals.save_verdict(uow, decision.id, "rejected", by, now, reason)
    await withdrawals.save_status(uow, withdrawal_id, "waiting")
