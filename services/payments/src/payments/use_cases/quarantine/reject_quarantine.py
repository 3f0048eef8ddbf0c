"""Reject the prepared decision about a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import NothingPrepared, evaluate_rejection
from common.primitives.problems import NotFound
from payments.store import decisions


async def reject_quarantine(uow: UnitOfWork, quarantined_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the decision: the charge stays quarantined, and can be prepared again. Raises NotFound, and the errors of
    `evaluate_rejection`.
    """
    if await decisions.lock_quarantined(uow, quarantined_id) is None:
        raise NotFound
    found = await decisions.find_quarantine_decision(uow, quarantined_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_rejection(decision.prepared(status), by):
        return
    await decisions.save_quarantine_verdict(uow, decision.id, "rejected", by, now, reason)
    await decisions.save_quarantined(uow, quarantined_id, "quarantined")
