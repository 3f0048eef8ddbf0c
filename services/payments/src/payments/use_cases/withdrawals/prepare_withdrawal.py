"""Prepare the decision about a withdrawal that waits for two people: pay or return."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments.domain.errors import NotWaitingForTwo, WithdrawnByItsBuyer
from payments.domain.transitions import WITHDRAWAL
from payments.domain.withdrawals import WithdrawalOutcome
from payments.store import withdrawals


async def prepare_withdrawal(
    uow: UnitOfWork, withdrawal_id: UUID, outcome: WithdrawalOutcome, reason: str, by: UUID, now: datetime
) -> None:
    """No money moves before the approval. Its buyer decides on no withdrawal.

    Raises NotFound, WithdrawnByItsBuyer (403) and NotWaitingForTwo (409).
    """
    withdrawal = await withdrawals.lock_withdrawal(uow, withdrawal_id)
    if withdrawal is None:
        raise NotFound
    if withdrawal.user_id == by:
        raise WithdrawnByItsBuyer
    if not WITHDRAWAL.allows(withdrawal.status, "decision_prepared"):
        raise NotWaitingForTwo(withdrawal.status)
    await withdrawals.record_decision(uow, new_id(), withdrawal_id, outcome, reason, by, now)
    await withdrawals.save_status(uow, withdrawal_id, "prepared")
