"""Record a refund that the gateway paid."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.order_updates import evaluate_update, require_order
from orders.domain.orders import Windows
from orders.store import orders, refunds


async def record_refund_settled(
    uow: UnitOfWork, order_id: UUID, refund_id: UUID, *, sequence: int, now: datetime, windows: Windows
) -> Rejection | None:
    """Mark an order in `refund_pending` as refunded once all of its refunds are settled.

    A refund that this service did not request, and an event that a later one overtook, are stale. Raises
    OrderNotReceived, EarlyUpdate. Returns the reason when nothing changed.
    """
    order = require_order(await orders.lock_order(uow, order_id), about=order_id)
    refund = await refunds.lock_refund(uow, refund_id, order.id)
    if refund is None:
        return Rejection.STALE
    order, transition = evaluate_update(order, "refund_settled", about=order_id)
    if sequence <= refund.sequence:
        return Rejection.STALE
    await refunds.save_refund(uow, refund_id, order.id, refund, "settled", sequence)
    if refund.status == "settled":
        return Rejection.REPEATED
    if isinstance(transition, Rejection):
        return transition
    if transition != order.status and not await refunds.has_unsettled_refund(uow, order.id):
        await orders.save_transition(uow, order, transition, "refund_settled", now, windows)
    return None
