"""Cancel an erasure."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.store import erasure


async def cancel_erasure(uow: UnitOfWork, user_id: UUID, sequence: int) -> Rejection | None:
    """Allow new activity of the user again, as buyer and as vendor. Returns STALE for an outdated event."""
    return None if await erasure.save_erasure_status(uow, user_id, "stays", sequence) else Rejection.STALE
