"""Find the order of a resolution."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.store import disputes


async def find_resolved_order(uow: UnitOfWork, resolution_id: UUID) -> UUID:
    """Return the order of a resolution that row policies show to the caller; it never changes. Raises NotFound."""
    resolution = await disputes.find_resolution(uow, resolution_id)
    if resolution is None:
        raise NotFound
    return resolution.order_id
