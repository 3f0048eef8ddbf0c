"""What identity says of a hub."""

from common.database.unit_of_work import UnitOfWork
from orders import store
from orders.domain.projections import HubProjection
from orders.domain.transitions import Rejection


async def project_hub(uow: UnitOfWork, hub: HubProjection, sequence: int) -> Rejection | None:
    """Whether an order may go to this hub, and its delivery fee, the newest word only. Answers STALE for an older word."""
    return None if await store.save_hub(uow, hub, sequence) else Rejection.STALE
