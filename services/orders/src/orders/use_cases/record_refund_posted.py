"""A refund stands in the ledger."""

from datetime import datetime

from common.database import UnitOfWork
from contracts.payments import EscrowRefunded
from orders import store
from orders.domain.moves import NoMove
from orders.domain.news import OrderUnknown


async def record_refund_posted(uow: UnitOfWork, event: EscrowRefunded, *, now: datetime) -> NoMove | None:
    """The order's `refundedMinor` grows, once for each refund. Raises OrderUnknown. Answers why nothing was done."""
    await store.lock_order(uow, event.order_id)
    refund = await store.lock_refund(uow, event.refund_id, event.order_id)
    if refund is None:
        raise OrderUnknown(f"no refund {event.refund_id} of order {event.order_id}")
    if refund.counted:
        return NoMove.REPEATED
    # A failure that overtook the posting stays a failure: only the amount is counted.
    status = "posted" if refund.status == "requested" else refund.status
    await store.save_refund(uow, event.refund_id, event.order_id, refund, status, now)
    return None
