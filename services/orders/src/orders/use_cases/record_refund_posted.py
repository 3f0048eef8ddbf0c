"""A refund stands in the ledger."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from orders import store
from orders.domain.moves import NoMove
from orders.domain.news import OrderUnknown


async def record_refund_posted(uow: UnitOfWork, order_id: UUID, refund_id: UUID, *, now: datetime) -> NoMove | None:
    """The order's `refundedMinor` grows, once for each refund. Raises OrderUnknown. Answers why nothing was done."""
    await store.lock_order(uow, order_id)
    refund = await store.lock_refund(uow, refund_id, order_id)
    if refund is None:
        raise OrderUnknown(f"no refund {refund_id} of order {order_id}")
    if refund.counted:
        return NoMove.REPEATED
    # A failure that overtook the posting stays a failure: only the amount is counted.
    status = "posted" if refund.status == "requested" else refund.status
    await store.save_refund(uow, refund_id, order_id, refund, status, now)
    return None
