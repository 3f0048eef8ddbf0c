"""Keep the vendor's share of what an order still holds in escrow."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payouts import store


async def record_escrow_share(
    uow: UnitOfWork, order_id: UUID, vendor_id: UUID, remaining_vendor_minor: int, sequence: int
) -> None:
    """The share after the event with this `sequence`, in kobo: held, released and refunded may arrive in any order."""
    if not await store.save_order_share(uow, order_id, vendor_id, remaining_vendor_minor, sequence):
        STALE_EVENTS.labels("payments.escrow").inc()
