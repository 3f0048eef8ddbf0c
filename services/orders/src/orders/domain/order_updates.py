"""Judging what other services and the timers say of an order."""

from uuid import UUID

from common.messaging.faults import NotYetKnown
from orders.domain.orders import Order
from orders.domain.transitions import Rejection, State, Trigger, next_state


class OrderNotReceived(NotYetKnown):
    """News of an order that is not known here (yet): the retry ladder brings it again."""


class EarlyUpdate(NotYetKnown):
    """News that presumes other news which has not arrived: a release before its charge. The retry ladder brings it again."""


def require_order(order: Order | None, *, about: UUID) -> Order:
    """The order; raises OrderUnknown when there is none."""
    if order is None:
        raise OrderNotReceived(f"no order {about}")
    return order


def evaluate_update(order: Order | None, trigger: Trigger, *, about: UUID) -> tuple[Order, State | Rejection]:
    """The order and what the news means for it. News cannot be refused: too early is an error that is tried again."""
    order = require_order(order, about=about)
    transition = next_state(order.status, trigger)
    if transition is Rejection.FORBIDDEN:
        raise EarlyUpdate(f"{trigger} of order {about}, which is {order.status}")
    return order, transition
