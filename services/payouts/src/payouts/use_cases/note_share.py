"""Keep the vendor's share of what an order still holds in escrow."""

from uuid import UUID

from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from payouts import store


async def note_share(
    uow: UnitOfWork, order_id: UUID, vendor_id: UUID, remaining_vendor_minor: int, sequence: int
) -> None:
    """The share after the event with this `sequence`, in kobo: held, released and refunded may arrive in any order."""
    if not await store.save_order_share(uow, order_id, vendor_id, remaining_vendor_minor, sequence):
        STALE_NEWS.labels("payments.escrow").inc()
