"""What identity says of a vendor."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from orders import store
from orders.domain.projections import VendorProjection
from orders.domain.transitions import Rejection


async def project_vendor(
    uow: UnitOfWork, vendor: VendorProjection, sequence: int, *, now: datetime
) -> Rejection | None:
    """Name, campus and commission of a vendor, the newest word only; its products show them. Answers STALE for an older word."""
    if not await store.save_vendor(uow, vendor, sequence):
        return Rejection.STALE
    await store.rename_vendor_on_products(uow, vendor, now)
    return None
