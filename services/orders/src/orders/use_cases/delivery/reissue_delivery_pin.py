"""A new delivery PIN for the buyer."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders import store
from orders.domain.errors import ForbiddenTransition, ReissueLimitReached
from orders.domain.order_roles import OrderRole
from orders.domain.pins import ISSUES_MAX
from orders.domain.transitions import Rejection, next_state
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer, issue_delivery_pin


async def reissue_delivery_pin(
    uow: UnitOfWork, pins: PinIssuer, order_id: UUID, roles: frozenset[OrderRole], now: datetime
) -> tuple[str, int]:
    """The buyer gets a new PIN with all tries ahead of it, while one can still be used; the old one no longer opens anything.

    Answers the PIN and how many reissues are left. Raises NotFound for anyone but the buyer, ForbiddenMove and ReissuesUsedUp (409).
    """
    order = await store.lock_order(uow, order_id)
    if order is None or "buyer" not in roles:
        raise NotFound
    if isinstance(next_state(order.status, "pin_accepted"), Rejection):
        raise ForbiddenTransition(order.status)
    standing = await store.lock_pin(uow, order_id)
    if standing is None:
        raise ForbiddenTransition(order.status)
    if standing.issue >= ISSUES_MAX:
        raise ReissueLimitReached
    issue = standing.issue + 1
    return await issue_delivery_pin(uow, pins, order, issue, now), ISSUES_MAX - issue
