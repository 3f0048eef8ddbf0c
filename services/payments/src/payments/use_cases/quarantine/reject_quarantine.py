"""The second person does not agree on what becomes of a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import NothingPrepared, evaluate_rejection
from common.primitives.problems import NotFound
from payments import store


async def reject_quarantine(uow: UnitOfWork, quarantined_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """The charge stays in quarantine, and may be prepared anew. Raises NotFound, and what `evaluate_rejection` refuses."""
    charge = await store.lock_quarantined(uow, quarantined_id)
    if charge is None:
        raise NotFound
    found = await store.find_quarantine_decision(uow, quarantined_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_rejection(decision.prepared(status), by):
        return
    await store.save_quarantine_verdict(uow, decision.id, "rejected", by, now, reason)
    await store.save_quarantined(uow, quarantined_id, "quarantined")
