"""What identity says of a vendor."""

from datetime import datetime

from common.database import UnitOfWork
from orders import store
from orders.domain.moves import NoMove
from orders.domain.places import KnownVendor


async def learn_vendor(uow: UnitOfWork, vendor: KnownVendor, sequence: int, *, now: datetime) -> NoMove | None:
    """Name, campus and commission of a vendor, the newest word only; its products show them. Answers STALE for an older word."""
    if not await store.save_vendor(uow, vendor, sequence):
        return NoMove.STALE
    await store.rename_vendor_on_products(uow, vendor, now)
    return None
