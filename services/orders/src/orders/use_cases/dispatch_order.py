"""Handing the goods over for delivery."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import Forbidden, NotFound
from contracts.orders import OrderDispatched
from orders import store
from orders.domain.errors import ForbiddenMove
from orders.domain.moves import NoMove, answer
from orders.domain.orders import Windows
from orders.domain.parties import Part


async def dispatch_order(
    uow: UnitOfWork, order_id: UUID, parts: frozenset[Part], *, now: datetime, windows: Windows
) -> None:
    """The vendor hands the goods over; the time within which the PIN must come begins. Raises Forbidden, ForbiddenMove (409)."""
    if "vendor" not in parts:
        raise Forbidden
    order = await store.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    move = answer(order.status, "vendor_dispatches")
    if move is NoMove.REPEATED:
        return
    if isinstance(move, NoMove):
        raise ForbiddenMove(order.status)
    await store.save_move(uow, order, move, now, windows)
    uow.publish(OrderDispatched(order_id=order.id, buyer_id=order.buyer_id, vendor_id=order.vendor_id))
