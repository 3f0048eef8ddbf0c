"""Project a vendor of identity."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.projections import VendorProjection
from orders.store import projections, stock


async def project_vendor(
    uow: UnitOfWork, vendor: VendorProjection, sequence: int, *, now: datetime
) -> Rejection | None:
    """Save name, campus and commission of the vendor unless a newer event is known, and update its products."""
    if not await projections.save_vendor(uow, vendor, sequence):
        return Rejection.STALE
    await stock.rename_vendor_on_products(uow, vendor, now)
    return None
