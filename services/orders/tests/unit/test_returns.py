"""Return requests: valid requests, and the refund of an approval (contract section 6.5). Amounts in kobo."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from common.primitives.ids import new_id
from orders.domain.errors import ForbiddenTransition
from orders.domain.orders import Order
from orders.domain.return_errors import (
    QuantityExceedsOrder,
    QuantityExceedsRemainder,
    RepeatedItem,
    ReturnWindowClosed,
    UnknownItem,
)
from orders.domain.returns import (
    OrderLine,
    PreviousRefunds,
    ReturnedItem,
    ReturnRefund,
    check_request,
    refund_for_return,
)
from orders.domain.transitions import STATES, State

DUE_AT = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
RICE, BEANS = new_id(), new_id()
# Three units, of which one is in an open request; two units, of which one is returned.
LINES = {RICE: OrderLine(3, 1_001, requested=1, returned=0), BEANS: OrderLine(2, 501, requested=0, returned=1)}

NewOrder = Callable[[State], Order]


def check(new_order: NewOrder, *items, status: State = "delivered", due_at=DUE_AT, now=DUE_AT - MICROSECOND):
    order = replace(new_order(status), return_due_at=due_at)
    check_request(order, [ReturnedItem(item_id, quantity) for item_id, quantity in items], LINES, now)


@pytest.mark.parametrize("status", ["delivered", "paid"])
@pytest.mark.parametrize("items", [[(RICE, 2)], [(BEANS, 1)], [(BEANS, 1), (RICE, 2)]])
def test_the_remaining_units_of_a_delivered_order_may_be_returned(new_order: NewOrder, status: State, items) -> None:
    check(new_order, *items, status=status)


@pytest.mark.parametrize("status", [state for state in STATES if state not in ("delivered", "paid")])
def test_an_order_in_any_other_state_accepts_no_return_request(new_order: NewOrder, status: State) -> None:
    with pytest.raises(ForbiddenTransition):
        check(new_order, (RICE, 1), status=status)


@pytest.mark.parametrize(
    ("due_at", "now"), [(DUE_AT, DUE_AT), (DUE_AT, DUE_AT + MICROSECOND), (None, DUE_AT - MICROSECOND)]
)
def test_the_return_window_closes_at_its_end(new_order: NewOrder, due_at, now) -> None:
    with pytest.raises(ReturnWindowClosed):
        check(new_order, (RICE, 1), due_at=due_at, now=now)


def test_an_item_is_listed_once(new_order: NewOrder) -> None:
    with pytest.raises(RepeatedItem):
        check(new_order, (RICE, 1), (RICE, 1))


@pytest.mark.parametrize(
    ("items", "error_class", "names"),
    [
        ([(RICE, 1), (new_id(), 1)], UnknownItem, ["items.1.itemId"]),
        ([(BEANS, 1), (RICE, 4)], QuantityExceedsOrder, ["items.1.quantity"]),
        ([(RICE, 3)], QuantityExceedsRemainder, ["items.0.quantity"]),
        ([(RICE, 2), (BEANS, 2)], QuantityExceedsRemainder, ["items.1.quantity"]),
    ],
)
def test_an_error_of_an_item_names_its_position(new_order: NewOrder, items, error_class, names: list[str]) -> None:
    with pytest.raises(error_class) as error:
        check(new_order, *items)
    assert [param.name for param in error.value.invalid_params] == names


# Two units of 1,001 and three of 501: a subtotal of 3,505, with a delivery fee of 300.
TOTAL = 3_805


@pytest.mark.parametrize(
    ("returned_before", "returning", "refunds", "expected"),
    [
        # The line totals, without the delivery fee.
        ((0, 0), [(RICE, 1)], (0, 0), ReturnRefund(1_001, everything=False)),
        ((0, 0), [(RICE, 1), (BEANS, 2)], (0, 0), ReturnRefund(2_003, everything=False)),
        ((0, 0), [(RICE, 2), (BEANS, 2)], (0, 0), ReturnRefund(3_004, everything=False)),
        ((1, 0), [(BEANS, 1)], (1_001, 0), ReturnRefund(501, everything=False)),
        # Everything: the rest of the total, with the delivery fee.
        ((0, 0), [(RICE, 2), (BEANS, 3)], (0, 0), ReturnRefund(3_805, everything=True)),
        ((2, 2), [(BEANS, 1)], (3_004, 0), ReturnRefund(801, everything=True)),
        ((2, 2), [(BEANS, 1)], (1_498, 1_805), ReturnRefund(502, everything=True)),
        # A split of 1,805 left 2,000 of 3,505: 1001 * 2000 / 3505 = 571.18, and 3004 * 2000 / 3505 = 1714.12.
        ((0, 0), [(RICE, 1)], (0, 1_805), ReturnRefund(571, everything=False)),
        ((1, 0), [(RICE, 1), (BEANS, 2)], (571, 1_805), ReturnRefund(1_143, everything=False)),
        # 1001 + 501 = 1502: 857.06, less 571. Alone the beans would be 285.87, rounded down to 285.
        ((1, 0), [(BEANS, 1)], (571, 1_805), ReturnRefund(286, everything=False)),
        # A split below the delivery fee leaves the items at their full price.
        ((0, 0), [(RICE, 1)], (0, 299), ReturnRefund(1_001, everything=False)),
        ((0, 0), [(RICE, 1)], (0, 300), ReturnRefund(1_001, everything=False)),
        # 1001 * 3504 / 3505 = 1000.71.
        ((0, 0), [(RICE, 1)], (0, 301), ReturnRefund(1_000, everything=False)),
    ],
)
def test_a_return_refunds_the_paid_part_of_its_units_and_the_fee_with_the_last_one(
    returned_before, returning, refunds, expected: ReturnRefund
) -> None:
    rice, beans = returned_before
    lines = {RICE: OrderLine(2, 1_001, 0, rice), BEANS: OrderLine(3, 501, 0, beans)}
    items = [ReturnedItem(item_id, quantity) for item_id, quantity in returning]
    refund = refund_for_return(TOTAL, 0, items, lines, PreviousRefunds(*refunds))
    assert (refund.refund_minor, refund.everything) == (expected.refund_minor, expected.everything)
