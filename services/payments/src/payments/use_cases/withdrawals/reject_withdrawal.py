"""Reject the prepared decision about a withdrawal."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.store import withdrawals


async def reject_withdrawal(uow: UnitOfWork, withdrawal_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the decision: the withdrawal waits again, and can be prepared again. Raises NotFound, and the errors of
    `evaluate_rejection`.
    """
    if await withdrawals.lock_withdrawal(uow, withdrawal_id) is None:
        raise NotFound
    if await withdrawals.DECISIONS.reject(uow, withdrawal_id, by, now, reason) is not None:
        await withdrawals.save_status(uow, withdrawal_id, "waiting")
