"""What identity says of a vendor's right to sell."""

from datetime import datetime

from common.database import UnitOfWork
from orders import store
from orders.domain.moves import NoMove
from orders.domain.places import KnownVendor
from orders.use_cases.learn_vendor import learn_vendor


async def learn_vendor_standing(
    uow: UnitOfWork, vendor: KnownVendor, suspended: bool, sequence: int, *, now: datetime
) -> NoMove | None:
    """A suspended vendor sells nothing new and open orders finish; the newest word only. Answers STALE for an older word."""
    # The news carries the whole vendor: it may be the first that is heard of it.
    await learn_vendor(uow, vendor, sequence, now=now)
    return None if await store.save_vendor_standing(uow, vendor.id, suspended, sequence) else NoMove.STALE
