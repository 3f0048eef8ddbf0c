"""Judging what other services and the timers say of an order."""

from uuid import UUID

from common.faults import NotYetKnown
from orders.domain.moves import NoMove, State, Trigger, answer
from orders.domain.orders import Order


class OrderUnknown(NotYetKnown):
    """News of an order that is not known here (yet): the retry ladder brings it again."""


class NewsBeforeItsTime(NotYetKnown):
    """News that presumes other news which has not arrived: a release before its charge. The retry ladder brings it again."""


def judge_known(order: Order | None, *, about: UUID) -> Order:
    """The order; raises OrderUnknown when there is none."""
    if order is None:
        raise OrderUnknown(f"no order {about}")
    return order


def judge_news(order: Order | None, trigger: Trigger, *, about: UUID) -> tuple[Order, State | NoMove]:
    """The order and what the news means for it. News cannot be refused: too early is an error that is tried again."""
    order = judge_known(order, about=about)
    move = answer(order.status, trigger)
    if move is NoMove.FORBIDDEN:
        raise NewsBeforeItsTime(f"{trigger} of order {about}, which is {order.status}")
    return order, move
