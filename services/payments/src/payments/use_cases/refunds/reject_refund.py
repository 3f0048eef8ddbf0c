"""The second person does not agree on how a failed refund is sent again."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import NothingPrepared, evaluate_rejection
from common.primitives.problems import NotFound
from payments import store


async def reject_refund(uow: UnitOfWork, refund_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """The refund stays failed, and may be prepared anew. Raises NotFound, and what `evaluate_rejection` refuses."""
    if await store.lock_refund(uow, refund_id) is None:
        raise NotFound
    found = await store.find_refund_decision(uow, refund_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_rejection(decision.prepared(status), by):
        return
    await store.save_refund_verdict(uow, decision.id, "rejected", by, now, reason)
    await store.save_refund_unprepared(uow, refund_id)
