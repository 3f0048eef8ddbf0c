"""Cancel an order."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import OrderCancelled
from orders.domain.errors import ForbiddenTransition
from orders.domain.order_history import ROLE_BY_EVENT, OrderActor
from orders.domain.order_roles import OrderRole, cancel_trigger
from orders.domain.orders import Cancellation, Windows
from orders.domain.transitions import next_state
from orders.store import orders, stock
from orders.use_cases.products.publish_stock_changes import publish_stock_changes
from orders.use_cases.refunds.steps import request_rest


async def cancel_order(
    uow: UnitOfWork,
    order_id: UUID,
    roles: frozenset[OrderRole],
    requested: Cancellation,
    *,
    by: Caller,
    now: datetime,
    windows: Windows,
) -> None:
    """Buyer, vendor or staff cancel an order; a paid order is refunded in full (contract section 6).

    Undispatched units return to the stock once: a repeated cancellation finds the new state. Raises Forbidden (403) for
    a caller who may only read the order, ForbiddenTransition (409), and StepUpRequired (403) for staff who refund a
    paid order without a recent second factor (contract section 5.4).
    """
    trigger = cancel_trigger(roles)
    if trigger is None:
        raise Forbidden
    order = await orders.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    transition = next_state(order.status, trigger)
    if transition is Rejection.REPEATED:
        return
    if isinstance(transition, Rejection):
        raise ForbiddenTransition(order.status)
    if trigger == "staff_cancels" and transition != "cancelled":
        by.must_have_stepped_up(now)
    facts = orders.TransitionFacts(actor=OrderActor(by.id, ROLE_BY_EVENT[trigger]))
    await orders.save_transition(uow, order, transition, trigger, now, windows, facts)
    if order.stock_is_reserved:
        publish_stock_changes(uow, await stock.free_stock(uow, order.id))
    if transition == "cancelled":
        uow.publish(
            OrderCancelled(
                order_id=order.id,
                buyer_id=order.buyer_id,
                vendor_id=order.vendor_id,
                reason=requested.reason,
                number=order.number,
            )
        )
    else:
        await request_rest(uow, order, requested.reason, now, refund_to=requested.refund_to)
