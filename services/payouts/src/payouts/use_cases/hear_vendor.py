"""Keep what identity says of a vendor."""

from uuid import UUID

from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from payouts import store


async def hear_vendor(uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, legal_name: str, sequence: int) -> None:
    """Keeps owner and legal name; older news than what was heard is counted and ignored."""
    if not await store.save_vendor(uow, vendor_id, owner_user_id, legal_name, sequence):
        STALE_NEWS.labels("identity.vendor").inc()
