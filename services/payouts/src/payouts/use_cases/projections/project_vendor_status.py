"""Project whether a vendor is suspended."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.store import projections


async def project_vendor_status(uow: UnitOfWork, vendor_id: UUID, suspended: bool, sequence: int) -> bool:
    """Hold a suspended vendor's payouts: none is requested, none is sent. False for an older event, which is
    ignored (contract section 10).
    """
    return await projections.save_vendor_status(uow, vendor_id, suspended, sequence)
