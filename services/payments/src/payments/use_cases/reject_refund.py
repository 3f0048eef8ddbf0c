"""The second person does not agree on how a failed refund is sent again."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import NotFound
from payments import store
from payments.domain.decisions import Decision, judge_decision


async def reject_refund(uow: UnitOfWork, refund_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """The refund stays failed, and may be prepared anew. Raises NotFound, NothingPrepared and AlreadyDecided (409), and
    DecidedByItsMaker (403)."""
    if await store.lock_refund(uow, refund_id) is None:
        raise NotFound
    prepared = await store.find_refund_decision(uow, refund_id)
    decision = Decision(prepared["id"], prepared["status"], prepared["prepared_by"]) if prepared else None
    if not judge_decision(decision, "rejected", by) or prepared is None:
        return
    await store.save_refund_verdict(uow, prepared["id"], "rejected", by, now, reason)
    await store.save_refund_unprepared(uow, refund_id)
