"""What identity says of a vendor."""

from datetime import datetime

from common.database import UnitOfWork
from contracts.identity import VendorApproved, VendorChanged
from orders import store
from orders.domain.moves import NoMove


async def learn_vendor(
    uow: UnitOfWork, event: VendorApproved | VendorChanged, sequence: int, *, now: datetime
) -> NoMove | None:
    """Name, campus and commission of a vendor, the newest word only; its products show them. Answers STALE for an older word."""
    newer = await store.save_vendor(
        uow, event.vendor_id, event.business_name, event.campus_id, event.commission_basis_points, sequence
    )
    if not newer:
        return NoMove.STALE
    await store.rename_vendor_on_products(uow, event.vendor_id, event.business_name, event.campus_id, now)
    return None
