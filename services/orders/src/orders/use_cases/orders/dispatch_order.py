"""Dispatch an order."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import OrderDispatched
from orders.domain.errors import ForbiddenTransition
from orders.domain.order_history import actor_of
from orders.domain.order_roles import SHOP_ROLES, OrderRole
from orders.domain.orders import Order, Windows
from orders.domain.transitions import next_state
from orders.store import orders


async def dispatch_order(
    uow: UnitOfWork, found: Order, roles: frozenset[OrderRole], *, by: UUID, now: datetime, windows: Windows
) -> Order:
    """Dispatch the order that was found, as a person of its shop, which starts the PIN window; return it as it is then.
    The history names the person. Raises Forbidden, ForbiddenTransition (409).
    """
    if SHOP_ROLES.isdisjoint(roles):
        raise Forbidden
    order = await orders.lock_order(uow, found.id, found=found)
    if order is None:
        raise NotFound
    transition = next_state(order.status, "vendor_dispatches")
    if transition is Rejection.REPEATED:
        return order
    if isinstance(transition, Rejection):
        raise ForbiddenTransition(order.status)
    event = OrderDispatched(
        order_id=order.id,
        buyer_id=order.buyer_id,
        vendor_id=order.vendor_id,
        number=order.number,
        hub_id=order.hub_id,
    )
    facts = orders.TransitionFacts(event=event, are_last=True, actor=actor_of(by, roles))
    return await orders.save_transition(uow, order, transition, "vendor_dispatches", now, windows, facts)
