"""Close the vendor of an erased owner."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.store import erasure


async def close_vendor(uow: UnitOfWork, vendor_id: UUID, campus_id: UUID, sequence: int, now: datetime) -> None:
    """Erase the vendor's name and remove its products. The saved sequence rejects older events, which hold the name."""
    await erasure.close_vendor(uow, vendor_id, campus_id, sequence, now)
