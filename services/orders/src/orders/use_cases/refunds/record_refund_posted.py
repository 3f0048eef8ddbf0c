"""Record a refund that the ledger posted."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from contracts.orders import OrderCompleted
from orders.domain.orders import Order, ReportedEscrow, Windows
from orders.store import orders, refunds


async def record_refund_posted(
    uow: UnitOfWork,
    order: Order,
    refund_id: UUID,
    remaining_minor: int,
    *,
    sequence: int,
    now: datetime,
    windows: Windows,
) -> Rejection | None:
    """Mark the refund of the locked order posted, once. Its `refundedMinor` follows the escrow that the event states.

    A delivered order whose escrow (kobo) is empty after the refund is complete: the vendor's part was released before,
    and no release follows. A refund that this service did not request only updates the saved escrow balance. Returns
    the reason when nothing changed.
    """
    refund = await refunds.lock_refund(uow, refund_id, order.id)
    await orders.save_escrow(uow, order.id, ReportedEscrow(remaining_minor, sequence))
    if refund is None:
        return Rejection.STALE
    if not refund.counted:
        # A failure that arrived before the posting stays a failure.
        status = "posted" if refund.status == "requested" else refund.status
        await refunds.save_refund(uow, refund_id, order.id, refund, status, refund.sequence)
    if remaining_minor == 0 and order.status == "delivered":
        await orders.save_transition(uow, order, "paid", "escrow_fully_released", now, windows)
        uow.publish(
            OrderCompleted(order_id=order.id, buyer_id=order.buyer_id, vendor_id=order.vendor_id, number=order.number)
        )
        return None
    return Rejection.REPEATED if refund.counted else None
