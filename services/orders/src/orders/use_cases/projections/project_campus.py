"""What identity says of a campus."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders import store
from orders.domain.transitions import Rejection


async def project_campus(uow: UnitOfWork, campus_id: UUID, name: str, active: bool, sequence: int) -> Rejection | None:
    """Whether an order may go to this campus, the newest word only. Answers STALE for an older word."""
    return None if await store.save_campus(uow, campus_id, name, active, sequence) else Rejection.STALE
