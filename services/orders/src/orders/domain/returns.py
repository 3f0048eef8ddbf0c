"""Return requests: their validation and their refunds (contract section 6). Amounts in kobo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from common.primitives.decisions import AlreadyDecided
from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from common.primitives.money import basis_points_of, share_half_even
from orders.domain.errors import ForbiddenTransition
from orders.domain.orders import Order
from orders.domain.refund_destinations import RefundTo
from orders.domain.return_errors import (
    QuantityExceedsOrder,
    QuantityExceedsRemainder,
    RepeatedItem,
    ReturnWindowClosed,
    UnknownItem,
)
from orders.domain.transitions import next_state

Decision = Literal["approved", "rejected"]
ReturnStatus = Literal["requested", "approved", "rejected"]

_DECIDERS: Final = "vendor, or staff with `returns:decide`"

RETURN: Final = Lifecycle[ReturnStatus, Decision](
    "Return",
    "A buyer's request to return items of an order.",
    get_args(ReturnStatus),
    {
        "approved": Rule({"requested": "approved"}, repeated={"approved"}, by=_DECIDERS),
        "rejected": Rule({"requested": "rejected"}, repeated={"rejected"}, by=_DECIDERS),
    },
)


@dataclass(frozen=True, slots=True)
class ReturnedItem:
    """One line of a return request."""

    item_id: UUID
    quantity: int


class NewReturn(NamedTuple):
    """A return as the buyer requests it."""

    items: Sequence[ReturnedItem]
    reason: str
    refund_to: RefundTo | None = None


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of the order, with its undecided requested quantity and its returned quantity."""

    quantity: int
    unit_price_minor: int
    requested: int
    returned: int
    name: str = ""

    @property
    def remaining(self) -> int:
        return self.quantity - self.requested - self.returned


@dataclass(frozen=True, slots=True)
class ReturnRequest:
    """A return request with its lines."""

    id: UUID
    order_id: UUID
    status: ReturnStatus
    items: tuple[ReturnedItem, ...]
    refund_to: RefundTo | None = None


@dataclass(frozen=True, slots=True)
class PreviousRefunds:
    """Sums of earlier refunds: for approved returns, and for other reasons such as a split dispute."""

    for_returns_minor: int
    otherwise_minor: int


@dataclass(frozen=True, slots=True)
class ReturnRefund:
    """The refund of an approval; `everything` when all units of the order are returned."""

    refund_minor: int
    everything: bool
    # The commission of the refund's items; None where the refund is the rest of the order, and takes the rest of each
    # part.
    commission_minor: int | None = None


class RequestedRefund(NamedTuple):
    """The refund that a decision requests: its amount in kobo, and its id unless the amount is 0."""

    amount_minor: int | None = None
    id: UUID | None = None


NO_REFUND: Final = RequestedRefund()


def evaluate_decision(request: ReturnRequest, decision: Decision) -> bool:
    """Return whether the decision takes effect now; False for its repetition. Raises AlreadyDecided (409)."""
    after = RETURN.next_state(request.status, decision)
    if after is Rejection.FORBIDDEN:
        raise AlreadyDecided(request.status)
    return after is not Rejection.REPEATED


def check_request(order: Order, items: Sequence[ReturnedItem], lines: Mapping[UUID, OrderLine], now: datetime) -> None:
    """Validate a return request.

    Raises RepeatedItem, UnknownItem, QuantityExceedsOrder (422), ForbiddenTransition, ReturnWindowClosed,
    QuantityExceedsRemainder (409).
    """
    if len({line.item_id for line in items}) < len(items):
        raise RepeatedItem
    if unknown := [position for position, line in enumerate(items) if line.item_id not in lines]:
        raise UnknownItem(unknown)
    if above := [position for position, line in enumerate(items) if line.quantity > lines[line.item_id].quantity]:
        raise QuantityExceedsOrder(above)
    if isinstance(next_state(order.status, "return_approved"), Rejection):
        raise ForbiddenTransition(order.status)
    if order.return_due_at is None or now >= order.return_due_at:
        raise ReturnWindowClosed
    if short := [position for position, line in enumerate(items) if line.quantity > lines[line.item_id].remaining]:
        raise QuantityExceedsRemainder(short)


def refund_for_return(
    total_minor: int,
    commission_minor: int,
    items: Sequence[ReturnedItem],
    lines: Mapping[UUID, OrderLine],
    refunds: PreviousRefunds,
) -> ReturnRefund:
    """Return the refund for these units: their line totals, reduced in proportion after a split dispute, and its
    commission.

    The delivery fee is refunded only when everything is returned: then the refund is the unrefunded rest of the total.
    `total_minor` and `commission_minor` are the order's.
    """
    returning = {line.item_id: line.quantity for line in items}
    if all(line.returned + returning.get(item_id, 0) == line.quantity for item_id, line in lines.items()):
        return ReturnRefund(total_minor - refunds.for_returns_minor - refunds.otherwise_minor, everything=True)
    subtotal = sum(line.quantity * line.unit_price_minor for line in lines.values())
    paid = min(subtotal, total_minor - refunds.otherwise_minor)
    returned = sum(
        (line.returned + returning.get(item_id, 0)) * line.unit_price_minor for item_id, line in lines.items()
    )
    # Over all returned units so far, so that rounding losses do not add up.
    refund_minor = returned * paid // subtotal - refunds.for_returns_minor
    points = basis_points_of(commission_minor, subtotal)
    return ReturnRefund(refund_minor, everything=False, commission_minor=share_half_even(refund_minor, points))


def vendor_share(subtotal_minor: int, commission_minor: int, cancelled_minor: Sequence[int]) -> int:
    """Return what the order's vendor is due for the items that are not cancelled; `cancelled_minor` are the prices of
    the other lines.
    """
    points = basis_points_of(commission_minor, subtotal_minor) if subtotal_minor else 0
    reduction_minor = sum(price_minor - share_half_even(price_minor, points) for price_minor in cancelled_minor)
    return subtotal_minor - commission_minor - reduction_minor
