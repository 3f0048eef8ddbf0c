"""Hide a review."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.store import reviews


async def hide_review(uow: UnitOfWork, caller: Caller, review_id: UUID, reason: str, *, now: datetime) -> None:
    """Hide the review from the public and exclude its rating. A hidden review stays unchanged. Raises NotFound."""
    hidden = await reviews.lock_review(uow, review_id)
    if hidden is None:
        raise NotFound
    if not hidden:
        await reviews.save_hidden(uow, review_id, caller.id, reason, now)
