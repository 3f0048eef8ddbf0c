"""Keep whether a vendor is suspended."""

from uuid import UUID

from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from payouts import store


async def hear_vendor_standing(uow: UnitOfWork, vendor_id: UUID, suspended: bool, sequence: int) -> None:
    """A suspended vendor's payouts are held: none is asked for, none is sent. Older news is ignored (contract section 10)."""
    if not await store.save_vendor_standing(uow, vendor_id, suspended, sequence):
        STALE_NEWS.labels("identity.vendor_standing").inc()
