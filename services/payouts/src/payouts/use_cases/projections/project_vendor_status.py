"""Project whether a vendor is suspended."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payouts import store


async def project_vendor_status(uow: UnitOfWork, vendor_id: UUID, suspended: bool, sequence: int) -> None:
    """A suspended vendor's payouts are held: none is requested, none is sent. Ignores an older event (contract section
    10).
    """
    if not await store.save_vendor_status(uow, vendor_id, suspended, sequence):
        STALE_EVENTS.labels("identity.vendor_standing").inc()
