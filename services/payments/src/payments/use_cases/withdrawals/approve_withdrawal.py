"""Approve the prepared decision about a withdrawal."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.domain.errors import WithdrawnByItsBuyer
from payments.domain.queues import WITHDRAWAL_QUEUE
from payments.store import withdrawals
from payments.use_cases.withdrawals.return_withdrawal import return_withdrawal


async def approve_withdrawal(uow: UnitOfWork, withdrawal_id: UUID, approved_hash: str, by: UUID, now: datetime) -> None:
    """Send or return the money once, as the decision with this hash states. Its buyer decides on no withdrawal.

    Raises NotFound, WithdrawnByItsBuyer (403), and the errors of `evaluate_approval`.
    """
    withdrawal = await withdrawals.lock_withdrawal(uow, withdrawal_id)
    if withdrawal is None:
        raise NotFound
    if withdrawal.user_id == by:
        raise WithdrawnByItsBuyer
    decision = await withdrawals.DECISIONS.approve(uow, withdrawal_id, approved_hash, by, now)
    if decision is None:
        return
    if decision.outcome == "return":
        await return_withdrawal(uow, withdrawal, "rejected", "two people returned it", now)
        return
    await withdrawals.save_status(uow, withdrawal_id, "pending")
    uow.enqueue_work(WITHDRAWAL_QUEUE, withdrawal_id, {"withdrawalId": str(withdrawal_id)})
