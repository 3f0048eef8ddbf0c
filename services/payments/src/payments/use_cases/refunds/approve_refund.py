"""The second person agrees on how a failed refund is sent again."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import AlreadyDecided, NothingPrepared, evaluate_approval
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments import store
from payments.use_cases.charges.create_overpayment_refund import REFUND_QUEUE


async def approve_refund(uow: UnitOfWork, refund_id: UUID, approved_hash: str, by: UUID, now: datetime) -> None:
    """A new attempt under a new reference is written down, once, as the decision with this hash says; the queued work first
    asks the gateway whether the failed one is dead. Raises NotFound, and what `evaluate_approval` refuses."""
    refund = await store.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    found = await store.find_refund_decision(uow, refund_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_approval(decision.prepared(status), approved_hash, by):
        if refund["status"] == "failed":
            # What was approved has been tried and failed again: that approval is used up.
            raise AlreadyDecided("approved, and failed again")
        return
    await store.save_refund_verdict(uow, decision.id, "approved", by, now)
    await store.replace_attempt(uow, refund_id, new_id(), decision.recipient_code, now)
    uow.enqueue_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
