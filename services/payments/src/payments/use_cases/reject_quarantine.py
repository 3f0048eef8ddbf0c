"""The second person does not agree on what becomes of a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import NotFound
from payments import store
from payments.domain.decisions import Decision, judge_decision


async def reject_quarantine(uow: UnitOfWork, quarantined_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """The charge stays in quarantine, and may be prepared anew. Raises NotFound, NothingPrepared and AlreadyDecided (409),
    and DecidedByItsMaker (403)."""
    charge = await store.lock_quarantined(uow, quarantined_id)
    if charge is None:
        raise NotFound
    prepared = await store.find_quarantine_decision(uow, quarantined_id)
    decision = Decision(prepared["id"], prepared["status"], prepared["prepared_by"]) if prepared else None
    if not judge_decision(decision, "rejected", by) or prepared is None:
        return
    await store.save_quarantine_verdict(uow, prepared["id"], "rejected", by, now, reason)
    await store.save_quarantined(uow, quarantined_id, "quarantined")
