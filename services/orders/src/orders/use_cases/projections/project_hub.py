"""Project a hub of identity."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.projections import HubProjection
from orders.store import projections


async def project_hub(uow: UnitOfWork, hub: HubProjection, sequence: int) -> Rejection | None:
    """Save the hub and its delivery fee unless a newer event is known."""
    return None if await projections.save_hub(uow, hub, sequence) else Rejection.STALE
