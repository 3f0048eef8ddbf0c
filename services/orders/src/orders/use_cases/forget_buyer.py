"""A person was erased."""

from uuid import UUID

from common.database import UnitOfWork
from orders.domain.moves import NoMove
from orders.store import leaving


async def forget_buyer(uow: UnitOfWork, user_id: UUID, sequence: int) -> NoMove | None:
    """What they wrote is taken away, and nothing is begun in their name ever again. Answers STALE when it was done before."""
    if not await leaving.save_standing(uow, user_id, "gone", sequence):
        return NoMove.STALE
    await leaving.forget_buyer(uow, user_id)
    return None
