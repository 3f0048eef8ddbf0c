"""Escrow went to the vendor."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from contracts.orders import OrderCompleted
from orders import store
from orders.domain.moves import NoMove
from orders.domain.news import judge_news
from orders.domain.orders import Windows


async def complete_order(
    uow: UnitOfWork, order_id: UUID, remaining_minor: int, *, now: datetime, windows: Windows
) -> NoMove | None:
    """With nothing left in escrow (kobo) the order is paid; a part of it changes nothing here.

    Raises OrderUnknown, NewsBeforeItsTime. Answers why nothing was done.
    """
    if remaining_minor > 0:
        return None
    order = await store.lock_order(uow, order_id)
    order, move = judge_news(order, "escrow_fully_released", about=order_id)
    if isinstance(move, NoMove):
        return move
    await store.save_move(uow, order, move, now, windows)
    uow.publish(OrderCompleted(order_id=order.id, buyer_id=order.buyer_id, vendor_id=order.vendor_id))
    return None
