"""Project a campus of identity."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.store import projections


async def project_campus(uow: UnitOfWork, campus_id: UUID, name: str, active: bool, sequence: int) -> Rejection | None:
    """Save the campus unless a newer event is known."""
    return None if await projections.save_campus(uow, campus_id, name, active, sequence) else Rejection.STALE
