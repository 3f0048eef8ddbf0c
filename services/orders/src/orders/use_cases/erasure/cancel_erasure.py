"""Somebody who wanted to be erased stays."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.transitions import Rejection
from orders.store import erasure


async def cancel_erasure(uow: UnitOfWork, user_id: UUID, sequence: int) -> Rejection | None:
    """They may begin anything again, as buyer and as vendor. Answers STALE for a refusal older than what is known."""
    return None if await erasure.save_erasure_status(uow, user_id, "stays", sequence) else Rejection.STALE
