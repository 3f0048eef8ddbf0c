"""Reject the prepared decision about a failed refund."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import NothingPrepared, evaluate_rejection
from common.primitives.problems import NotFound
from payments.store import decisions, refunds


async def reject_refund(uow: UnitOfWork, refund_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the decision: the refund stays failed, and can be prepared again. Raises NotFound, and the errors of
    `evaluate_rejection`.
    """
    refund = await refunds.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    found = await decisions.find_refund_decision(uow, refund_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_rejection(decision.prepared(status), by):
        return
    await decisions.save_refund_verdict(uow, decision.id, "rejected", by, now, reason)
    if refund.kind != "outside":
        await decisions.save_refund_unprepared(uow, refund_id)
