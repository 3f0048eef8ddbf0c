"""Evaluation of events and timers against an order."""

from typing import TypeVar
from uuid import UUID

from common.messaging.faults import NotYetKnown
from common.primitives.lifecycles import Rejection
from orders.domain.orders import Order
from orders.domain.transitions import State, Trigger, next_state

FoundT = TypeVar("FoundT")


class OrderNotReceived(NotYetKnown):
    """The event's order is unknown, perhaps not received yet: the retry ladder redelivers the event."""


class EarlyUpdate(NotYetKnown):
    """The event depends on an event that has not arrived, such as the charge of a release: the retry ladder redelivers
    it.
    """


def require_order(order: FoundT | None, *, about: UUID) -> FoundT:
    """Return the order, or what belongs to it; raises OrderNotReceived for None."""
    if order is None:
        raise OrderNotReceived(f"order {about} not received yet, retrying")
    return order


def evaluate_update(order: Order | None, trigger: Trigger, *, about: UUID) -> tuple[Order, State | Rejection]:
    """Return the order with its next state, or with the reason for no transition. Raises OrderNotReceived,
    EarlyUpdate.
    """
    order = require_order(order, about=about)
    transition = next_state(order.status, trigger)
    if transition is Rejection.FORBIDDEN:
        raise EarlyUpdate(f"{trigger} before its dependency: order {about} is {order.status}, retrying")
    return order, transition
