"""Record the vendor's share of an order's escrow."""

from uuid import UUID

from common.database.unit_of_work import Writer
from payouts.store import projections


async def record_escrow_share(
    writer: Writer, order_id: UUID, vendor_id: UUID, remaining_vendor_minor: int, sequence: int
) -> bool:
    """Lock the wallet, and save the share after the event with this `sequence`, in kobo; False when a later one is
    saved.
    """
    return await projections.save_order_share(writer, order_id, vendor_id, remaining_vendor_minor, sequence)
