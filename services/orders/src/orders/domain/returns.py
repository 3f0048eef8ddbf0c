"""Return requests: which goods may come back, and what they are worth (contract section 6). Amounts in kobo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from orders.domain.errors import (
    ForbiddenTransition,
    QuantityExceedsOrder,
    QuantityExceedsRemainder,
    RepeatedItem,
    ReturnWindowClosed,
    UnknownItem,
)
from orders.domain.orders import Order
from orders.domain.transitions import Rejection, next_state

Decision = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class ReturnedItem:
    """One line of a return request."""

    item_id: UUID
    quantity: int


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of the order, with what of it is asked back and not decided, and what has come back."""

    quantity: int
    unit_price_minor: int
    requested: int
    returned: int

    @property
    def left(self) -> int:
        return self.quantity - self.requested - self.returned


@dataclass(frozen=True, slots=True)
class ReturnRequest:
    """The locked row of a return request."""

    id: UUID
    order_id: UUID
    status: str
    items: tuple[ReturnedItem, ...]


@dataclass(frozen=True, slots=True)
class PreviousRefunds:
    """What was asked back for an order before: for goods returned, and otherwise (a dispute that was split)."""

    for_returns_minor: int
    otherwise_minor: int


@dataclass(frozen=True, slots=True)
class ReturnRefund:
    """What an approval sends back; `everything` when no goods are left with the buyer."""

    refund_minor: int
    everything: bool


def check_request(order: Order, wanted: Sequence[ReturnedItem], lines: Mapping[UUID, OrderLine], now: datetime) -> None:
    """Whether these goods may be asked back now.

    Raises RepeatedItem, UnknownItem, MoreThanBought (422), ForbiddenMove, ReturnWindowEnded, MoreThanLeft (409).
    """
    if len({line.item_id for line in wanted}) < len(wanted):
        raise RepeatedItem
    if unknown := [place for place, line in enumerate(wanted) if line.item_id not in lines]:
        raise UnknownItem(unknown)
    if above := [place for place, line in enumerate(wanted) if line.quantity > lines[line.item_id].quantity]:
        raise QuantityExceedsOrder(above)
    if isinstance(next_state(order.status, "return_approved"), Rejection):
        raise ForbiddenTransition(order.status)
    if order.return_due_at is None or now >= order.return_due_at:
        raise ReturnWindowClosed
    if short := [place for place, line in enumerate(wanted) if line.quantity > lines[line.item_id].left]:
        raise QuantityExceedsRemainder(short)


def refund_for_return(
    total_minor: int, wanted: Sequence[ReturnedItem], lines: Mapping[UUID, OrderLine], refunds: PreviousRefunds
) -> ReturnRefund:
    """What goes back for these goods: their share of what the buyer has paid for the goods and not got back otherwise.

    That is their line totals, less in proportion after a split dispute. The delivery fee stays paid, unless everything comes back:
    then all that is left of the total does.
    """
    coming = {line.item_id: line.quantity for line in wanted}
    if all(line.returned + coming.get(item_id, 0) == line.quantity for item_id, line in lines.items()):
        return ReturnRefund(total_minor - refunds.for_returns_minor - refunds.otherwise_minor, everything=True)
    subtotal = sum(line.quantity * line.unit_price_minor for line in lines.values())
    paid = min(subtotal, total_minor - refunds.otherwise_minor)
    returned = sum((line.returned + coming.get(item_id, 0)) * line.unit_price_minor for item_id, line in lines.items())
    # Over all that has come back so far, so that the kobo lost to rounding do not add up.
    return ReturnRefund(returned * paid // subtotal - refunds.for_returns_minor, everything=False)
