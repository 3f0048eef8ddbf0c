"""Cancelling an order."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import Forbidden, NotFound
from contracts.orders import OrderCancelled
from orders import store
from orders.domain.errors import ForbiddenMove
from orders.domain.moves import NoMove, answer
from orders.domain.orders import Windows
from orders.domain.parties import Part, trigger_of_cancelling
from orders.use_cases.request_refund import request_refund
from orders.use_cases.say_stock_turned import say_stock_turned


async def cancel_order(
    uow: UnitOfWork, order_id: UUID, parts: frozenset[Part], reason: str, *, now: datetime, windows: Windows
) -> None:
    """Buyer, vendor or staff stop an order: paid, all held money goes back (contract section 6).

    Goods that were not handed over go back on their shelf, once: a repeated cancellation finds the order moved.
    Raises Forbidden (403) for who may see but not cancel, ForbiddenMove (409).
    """
    trigger = trigger_of_cancelling(parts)
    if trigger is None:
        raise Forbidden
    order = await store.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    move = answer(order.status, trigger)
    if move is NoMove.REPEATED:
        return
    if isinstance(move, NoMove):
        raise ForbiddenMove(order.status)
    await store.save_move(uow, order, move, now, windows)
    if order.goods_on_hand:
        say_stock_turned(uow, await store.free_stock(uow, order.id))
    if move == "cancelled":
        uow.publish(
            OrderCancelled(order_id=order.id, buyer_id=order.buyer_id, vendor_id=order.vendor_id, reason=reason)
        )
    else:
        await request_refund(uow, order, order.total_minor, reason, now)
