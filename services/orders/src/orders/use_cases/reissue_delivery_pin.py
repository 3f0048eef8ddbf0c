"""A new delivery PIN for the buyer."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import NotFound
from orders import store
from orders.domain.errors import ForbiddenMove, ReissuesUsedUp
from orders.domain.moves import NoMove, answer
from orders.domain.parties import Part
from orders.domain.pins import ISSUES_MAX
from orders.use_cases.issue_delivery_pin import PinOffice, issue_delivery_pin


async def reissue_delivery_pin(
    uow: UnitOfWork, pins: PinOffice, order_id: UUID, parts: frozenset[Part], now: datetime
) -> tuple[str, int]:
    """The buyer gets a new PIN with all tries ahead of it, while one can still be used; the old one no longer opens anything.

    Answers the PIN and how many reissues are left. Raises NotFound for anyone but the buyer, ForbiddenMove and ReissuesUsedUp (409).
    """
    order = await store.lock_order(uow, order_id)
    if order is None or "buyer" not in parts:
        raise NotFound
    if isinstance(answer(order.status, "pin_accepted"), NoMove):
        raise ForbiddenMove(order.status)
    standing = await store.lock_pin(uow, order_id)
    if standing is None:
        raise ForbiddenMove(order.status)
    if standing.issue >= ISSUES_MAX:
        raise ReissuesUsedUp
    issue = standing.issue + 1
    return await issue_delivery_pin(uow, pins, order, issue, now), ISSUES_MAX - issue
