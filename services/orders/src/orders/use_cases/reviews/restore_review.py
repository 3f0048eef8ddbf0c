"""Showing a hidden review again."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.store import reviews


async def restore_review(uow: UnitOfWork, review_id: UUID) -> None:
    """Staff show a hidden review again, and it counts again. One that is shown stays as it is. Raises NotFound."""
    hidden = await reviews.lock_review(uow, review_id)
    if hidden is None:
        raise NotFound
    if hidden:
        await reviews.save_shown(uow, review_id)
