"""What identity says of a vendor's right to sell."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from orders import store
from orders.domain.projections import VendorProjection
from orders.domain.transitions import Rejection
from orders.use_cases.projections.project_vendor import project_vendor


async def project_vendor_status(
    uow: UnitOfWork, vendor: VendorProjection, suspended: bool, sequence: int, *, now: datetime
) -> Rejection | None:
    """A suspended vendor sells nothing new and open orders finish; the newest word only. Answers STALE for an older word."""
    # The news carries the whole vendor: it may be the first that is heard of it.
    await project_vendor(uow, vendor, sequence, now=now)
    return None if await store.save_vendor_status(uow, vendor.id, suspended, sequence) else Rejection.STALE
