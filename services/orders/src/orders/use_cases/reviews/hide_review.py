"""Taking a review from public view."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.store import reviews


async def hide_review(uow: UnitOfWork, caller: Caller, review_id: UUID, reason: str, *, now: datetime) -> None:
    """Staff hide a review: nobody reads it and it no longer counts. One that is hidden stays as it is. Raises NotFound."""
    hidden = await reviews.lock_review(uow, review_id)
    if hidden is None:
        raise NotFound
    if not hidden:
        await reviews.save_hidden(uow, review_id, caller.id, reason, now)
