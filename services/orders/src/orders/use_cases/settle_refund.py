"""The gateway paid a refund out."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from orders import store
from orders.domain.moves import NoMove
from orders.domain.news import judge_known, judge_news
from orders.domain.orders import Windows


async def settle_refund(
    uow: UnitOfWork, order_id: UUID, refund_id: UUID, *, now: datetime, windows: Windows
) -> NoMove | None:
    """The order's own refund arrived: an order that waited for it is refunded. Any other refund is none of its business.

    Raises OrderUnknown, NewsBeforeItsTime. Answers why nothing was done.
    """
    order = judge_known(await store.lock_order(uow, order_id), about=order_id)
    refund = await store.lock_refund(uow, refund_id, order.id)
    if refund is None:
        return NoMove.STALE
    order, move = judge_news(order, "refund_settled", about=order_id)
    if refund.status == "settled":
        return NoMove.REPEATED
    await store.save_refund(uow, refund_id, order.id, refund, "settled", now)
    if isinstance(move, NoMove):
        return move
    if move != order.status:
        await store.save_move(uow, order, move, now, windows)
    return None
