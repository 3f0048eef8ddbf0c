"""The division of the money after a resolved dispute or a return."""

from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from common.primitives.ids import new_id
from common.primitives.money import share_half_even
from orders.domain.disputes import refund_of, release_of
from orders.domain.errors import RefundExceedsOrder, RefundWithoutSplit, SplitWithoutRefund
from orders.domain.returns import OrderLine, PreviousRefunds, ReturnedItem, refund_for_return


@pytest.mark.parametrize(
    ("outcome", "requested", "refund"), [("buyer", None, 100), ("vendor", None, 0), ("split", 1, 1), ("split", 99, 99)]
)
def test_the_outcome_determines_the_refund(outcome: str, requested: int | None, refund: int) -> None:
    assert refund_of(outcome, requested, 100) == refund


@pytest.mark.parametrize(
    ("outcome", "requested", "error"),
    [
        ("split", None, SplitWithoutRefund),
        ("split", 0, RefundExceedsOrder),
        ("split", 100, RefundExceedsOrder),
        ("buyer", 100, RefundWithoutSplit),
        ("vendor", 0, RefundWithoutSplit),
    ],
)
def test_a_refund_that_does_not_fit_its_outcome_is_refused(outcome: str, requested: int | None, error) -> None:
    with pytest.raises(error):
        refund_of(outcome, requested, 100)


@given(total=st.integers(2, 10**12), part=st.floats(0, 1), before=st.floats(0, 1))
def test_refund_and_release_empty_escrow_and_credit_the_total_less_the_refund(total, part, before) -> None:
    refund, released = int(total * part), int(total * before)
    held = total - released
    release = release_of(refund, held)
    from_held = min(refund, held)
    assert held - from_held - release == 0
    assert released - (refund - from_held) + release == total - refund


@given(
    lines=st.lists(st.tuples(st.integers(1, 99), st.integers(1, 10**9)), min_size=1, max_size=5),
    fee=st.integers(0, 10**6),
    split=st.floats(0, 0.999),
    choices=st.randoms(use_true_random=False),
)
def test_partial_returns_add_up_to_exactly_the_total(lines, fee, split, choices) -> None:
    total = sum(quantity * price for quantity, price in lines) + fee
    otherwise = int((total - 1) * split)
    order: dict[UUID, OrderLine] = {new_id(): OrderLine(quantity, price, 0, 0) for quantity, price in lines}
    sent = 0
    while True:
        left = [(item_id, line) for item_id, line in order.items() if line.remaining]
        item_id, line = choices.choice(left)
        quantity = choices.randint(1, line.remaining)
        items, before = [ReturnedItem(item_id, quantity)], PreviousRefunds(sent, otherwise)
        worth = refund_for_return(total, 0, items, order, before)
        assert worth.refund_minor >= 0
        if not worth.everything and otherwise == 0:
            assert worth.refund_minor == quantity * line.unit_price_minor
        sent += worth.refund_minor
        assert sent + otherwise <= total
        order[item_id] = OrderLine(line.quantity, line.unit_price_minor, 0, line.returned + quantity)
        if worth.everything:
            break
    assert not any(line.remaining for line in order.values())
    assert sent + otherwise == total


@given(
    lines=st.lists(st.tuples(st.integers(1, 99), st.integers(1, 10**9)), min_size=2, max_size=5),
    points=st.integers(0, 10_000),
)
def test_a_returned_item_gives_its_commission_back_at_the_orders_rate(lines, points: int) -> None:
    subtotal = sum(quantity * price for quantity, price in lines)
    assume(subtotal > 10_000)
    order: dict[UUID, OrderLine] = {new_id(): OrderLine(quantity, price, 0, 0) for quantity, price in lines}
    item_id, line = next(iter(order.items()))
    commission, items = share_half_even(subtotal, points), [ReturnedItem(item_id, line.quantity)]
    worth = refund_for_return(subtotal + 30_000, commission, items, order, PreviousRefunds(0, 0))
    assert worth.commission_minor == share_half_even(line.quantity * line.unit_price_minor, points)


def test_the_last_return_names_no_commission() -> None:
    lines = {new_id(): OrderLine(1, 20_000, 0, 1), (last := new_id()): OrderLine(1, 10, 0, 0)}
    worth = refund_for_return(20_010, 1_000, [ReturnedItem(last, 1)], lines, PreviousRefunds(20_000, 0))
    assert (worth.refund_minor, worth.commission_minor) == (10, None)
