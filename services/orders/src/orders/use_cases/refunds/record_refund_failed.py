"""Record a failed refund."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders import store
from orders.domain.order_updates import evaluate_update, require_order
from orders.domain.transitions import Rejection


async def record_refund_failed(uow: UnitOfWork, order_id: UUID, refund_id: UUID) -> Rejection | None:
    """The order stays `refund_pending` until maker and checker decide on the refund;
    payments raises the alert.

       A refund that this service did not request changes nothing. Raises OrderNotReceived, EarlyUpdate. Returns the reason
       when nothing changed.
    """
    order = require_order(await store.lock_order(uow, order_id), about=order_id)
    refund = await store.lock_refund(uow, refund_id, order.id)
    if refund is None:
        return Rejection.STALE
    order, transition = evaluate_update(order, "refund_failed", about=order_id)
    if refund.status == "settled":
        return Rejection.STALE
    await store.save_failed_refund(uow, refund_id)
    return transition if isinstance(transition, Rejection) else None
