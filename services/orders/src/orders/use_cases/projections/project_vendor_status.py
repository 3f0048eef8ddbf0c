"""Project the suspension of a vendor."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.projections import VendorProjection
from orders.store import projections
from orders.use_cases.projections.project_vendor import project_vendor


async def project_vendor_status(
    uow: UnitOfWork, vendor: VendorProjection, suspended: bool, sequence: int, *, now: datetime
) -> Rejection | None:
    """Suspend or reinstate the vendor unless a newer event is known. Open orders of a suspended vendor continue."""
    # The event holds the whole vendor and may be the first event about it.
    await project_vendor(uow, vendor, sequence, now=now)
    return None if await projections.save_vendor_status(uow, vendor.id, suspended, sequence) else Rejection.STALE
