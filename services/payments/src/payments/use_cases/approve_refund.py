"""The second person agrees on how a failed refund is sent again."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id
from common.problems import NotFound
from payments import store
from payments.domain.decisions import Decision, judge_decision
from payments.domain.errors import AlreadyDecided
from payments.use_cases.owe_overpayment import REFUND_QUEUE


async def approve_refund(uow: UnitOfWork, refund_id: UUID, by: UUID, now: datetime) -> None:
    """A new attempt under a new reference is written down, once; the work that it leaves first asks the gateway whether the
    failed one is dead. Raises NotFound, NothingPrepared and AlreadyDecided (409), and DecidedByItsMaker (403)."""
    refund = await store.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    prepared = await store.find_refund_decision(uow, refund_id)
    decision = Decision(prepared["id"], prepared["status"], prepared["prepared_by"]) if prepared else None
    if not judge_decision(decision, "approved", by) or prepared is None:
        if refund["status"] == "failed":
            # What was approved has been tried and failed again: that approval is used up.
            raise AlreadyDecided("approved, and failed again")
        return
    await store.save_refund_verdict(uow, prepared["id"], "approved", by, now)
    await store.replace_attempt(uow, refund_id, new_id(), prepared["recipient_code"], now)
    uow.leave_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
