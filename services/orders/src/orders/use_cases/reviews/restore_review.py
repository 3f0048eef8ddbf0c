"""Restore a hidden review."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.store import reviews


async def restore_review(uow: UnitOfWork, review_id: UUID) -> None:
    """Show the review and count its rating again. A shown review stays unchanged. Raises NotFound."""
    hidden = await reviews.lock_review(uow, review_id)
    if hidden is None:
        raise NotFound
    if hidden:
        await reviews.save_shown(uow, review_id)
