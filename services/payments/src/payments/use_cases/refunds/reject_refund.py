"""Reject the prepared decision about a failed refund."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.store import decisions, refunds
from payments.store.decisions import REFUND_DECISIONS


async def reject_refund(uow: UnitOfWork, refund_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the decision: the refund stays failed, and can be prepared again. Raises NotFound, and the errors of
    `evaluate_rejection`.
    """
    refund = await refunds.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    if await REFUND_DECISIONS.reject(uow, refund_id, by, now, reason) is not None and refund.kind != "outside":
        await decisions.save_refund_unprepared(uow, refund_id)
