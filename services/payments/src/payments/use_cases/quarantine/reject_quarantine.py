"""Reject the prepared decision about a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.store import decisions
from payments.store.decisions import QUARANTINE_DECISIONS


async def reject_quarantine(uow: UnitOfWork, quarantined_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the decision: the charge stays quarantined, and can be prepared again. Raises NotFound, and the errors of
    `evaluate_rejection`.
    """
    if await decisions.lock_quarantined(uow, quarantined_id) is None:
        raise NotFound
    if await QUARANTINE_DECISIONS.reject(uow, quarantined_id, by, now, reason) is not None:
        await decisions.save_quarantined(uow, quarantined_id, "quarantined")
