"""Steps of delivery PINs that several operations share."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from common.primitives.problems import NotFound
from orders.domain.errors import ForbiddenTransition
from orders.domain.orders import Order
from orders.domain.pin_reissues import next_staff_issue
from orders.domain.transitions import next_state
from orders.store import orders
from orders.store.pins import PIN_REISSUES, lock_pin
from orders.use_cases.disputes.steps import check_not_party


async def lock_exhausted_pin(uow: UnitOfWork, order: Order) -> int:
    """Lock the PIN of a locked, undelivered order, and return the number of the issue that staff may add.

    Raises ForbiddenTransition, PinNotExhausted and PinIssuesExhausted (409).
    """
    if isinstance(next_state(order.status, "pin_accepted"), Rejection):
        raise ForbiddenTransition(order.status)
    current = await lock_pin(uow, order.id)
    if current is None:
        raise ForbiddenTransition(order.status)
    return next_staff_issue(current)


async def lock_reissued_order(uow: UnitOfWork, reissue_id: UUID, by: Caller) -> Order:
    """Lock the order of a reissue. Raises NotFound, and PartyCannotDecide (403) for its buyer and its vendor."""
    found = await PIN_REISSUES.find(uow, reissue_id)
    order = None if found is None else await orders.lock_order(uow, found[1].order_id)
    if order is None:
        raise NotFound
    check_not_party(by, order)
    return order
