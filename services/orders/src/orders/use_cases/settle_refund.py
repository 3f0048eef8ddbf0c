"""The gateway paid a refund out."""

from datetime import datetime

from common.database import UnitOfWork
from contracts.payments import RefundSettled
from orders import store
from orders.domain.moves import NoMove
from orders.domain.news import OrderUnknown, judge_news
from orders.domain.orders import Windows


async def settle_refund(uow: UnitOfWork, event: RefundSettled, *, now: datetime, windows: Windows) -> NoMove | None:
    """The order's own refund arrived: an order that waited for it is refunded. Raises OrderUnknown, NewsBeforeItsTime.

    Refunds of a surplus or of quarantined money are payments' own and change no order. Answers why nothing was done.
    """
    if event.kind != "order" or event.order_id is None:
        return None
    order = await store.lock_order(uow, event.order_id)
    order, move = judge_news(order, "refund_settled", about=event.order_id)
    refund = await store.lock_refund(uow, event.refund_id, order.id)
    if refund is None:
        raise OrderUnknown(f"no refund {event.refund_id} of order {order.id}")
    if refund.status == "settled":
        return NoMove.REPEATED
    await store.save_refund(uow, event.refund_id, order.id, refund, "settled", now)
    if isinstance(move, NoMove):
        return move
    if move != order.status:
        await store.save_move(uow, order, move, now, windows)
    return None
