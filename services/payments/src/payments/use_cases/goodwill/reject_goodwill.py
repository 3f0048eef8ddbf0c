"""Reject a prepared goodwill refund."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from payments.store.goodwill import GOODWILL
from payments.use_cases.goodwill.steps import lock_order_of_goodwill


async def reject_goodwill(uow: UnitOfWork, goodwill_id: UUID, reason: str, by: Caller, now: datetime) -> None:
    """Reject it: no money moves, and another one may be prepared. Raises NotFound, OwnGoodwill (403), and the errors
    of `evaluate_rejection`.
    """
    await lock_order_of_goodwill(uow, goodwill_id, by)
    await GOODWILL.reject(uow, goodwill_id, by.id, now, reason)
