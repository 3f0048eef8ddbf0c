"""Record a failed refund."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.order_updates import evaluate_update, require_order
from orders.domain.orders import Windows
from orders.store import orders, refunds


async def record_refund_failed(
    uow: UnitOfWork, order_id: UUID, refund_id: UUID, *, sequence: int, now: datetime, windows: Windows
) -> Rejection | None:
    """Make the order `refund_pending` until maker and checker decide on the refund, also when it was `refunded` before;
    payments raises the alert.

    A refund that this service did not request, and an event that a later one overtook, change nothing. Raises
    OrderNotReceived, EarlyUpdate. Returns the reason when nothing changed.
    """
    order = require_order(await orders.lock_order(uow, order_id), about=order_id)
    refund = await refunds.lock_refund(uow, refund_id, order.id)
    if refund is None:
        return Rejection.STALE
    order, transition = evaluate_update(order, "refund_failed", about=order_id)
    if sequence <= refund.sequence:
        return Rejection.STALE
    await refunds.save_failed_refund(uow, refund_id, refund, sequence)
    if isinstance(transition, Rejection):
        return transition
    if transition != order.status:
        await orders.save_transition(uow, order, transition, "refund_failed", now, windows)
    return None
