"""Somebody who wanted to be erased stays."""

from uuid import UUID

from common.database import UnitOfWork
from orders.domain.moves import NoMove
from orders.store import leaving


async def keep_buyer(uow: UnitOfWork, user_id: UUID, sequence: int) -> NoMove | None:
    """They may begin anything again, as buyer and as vendor. Answers STALE for a refusal older than what is known."""
    return None if await leaving.save_standing(uow, user_id, "stays", sequence) else NoMove.STALE
