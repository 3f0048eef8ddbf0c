"""The owner of a vendor was erased."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.store import erasure


async def close_vendor(uow: UnitOfWork, vendor_id: UUID, campus_id: UUID, sequence: int, now: datetime) -> None:
    """The shop loses its name and its shelf for good; the sequence keeps older news from bringing the name back."""
    await erasure.close_vendor(uow, vendor_id, campus_id, sequence, now)
