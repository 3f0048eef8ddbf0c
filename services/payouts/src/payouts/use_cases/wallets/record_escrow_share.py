"""Record the vendor's share of an order's escrow."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payouts import store


async def record_escrow_share(
    uow: UnitOfWork, order_id: UUID, vendor_id: UUID, remaining_vendor_minor: int, sequence: int
) -> None:
    """Saves the share after the event with this `sequence`, in kobo; the order's events may arrive in any order."""
    if not await store.save_order_share(uow, order_id, vendor_id, remaining_vendor_minor, sequence):
        STALE_EVENTS.labels("payments.escrow").inc()
