"""Reissue a delivery PIN."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from common.primitives.problems import NotFound
from orders.domain.errors import ForbiddenTransition, ReissueLimitReached
from orders.domain.order_history import OrderActor
from orders.domain.order_roles import OrderRole
from orders.domain.pins import ISSUES_MAX
from orders.domain.transitions import next_state
from orders.store import orders
from orders.store.pins import lock_pin
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer, issue_delivery_pin


async def reissue_delivery_pin(
    uow: UnitOfWork, pins: PinIssuer, order_id: UUID, roles: frozenset[OrderRole], now: datetime
) -> tuple[str, int]:
    """Replace the PIN of an undelivered order; the old PIN becomes invalid.

    Returns the PIN and the number of remaining reissues.

    Raises NotFound for anyone but the buyer, ForbiddenTransition and ReissueLimitReached (409).
    """
    order = await orders.lock_order(uow, order_id)
    if order is None or "buyer" not in roles:
        raise NotFound
    if isinstance(next_state(order.status, "pin_accepted"), Rejection):
        raise ForbiddenTransition(order.status)
    current = await lock_pin(uow, order_id)
    if current is None:
        raise ForbiddenTransition(order.status)
    if current.issue >= ISSUES_MAX:
        raise ReissueLimitReached
    issue = current.issue + 1
    buyer = OrderActor(order.buyer_id, "buyer")
    return await issue_delivery_pin(uow, pins, order, issue, buyer, now), ISSUES_MAX - issue
