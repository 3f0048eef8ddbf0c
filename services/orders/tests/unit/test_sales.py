"""The division of an order's money among its items."""

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from orders.domain.sales import Sale, SaleLine, divide_sale, largest_remainder

PAID_AT = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
AMOUNTS = st.integers(0, 10**12)


def test_the_largest_remainders_get_the_kobo_that_are_left() -> None:
    assert largest_remainder(100, [1, 1, 1]) == [34, 33, 33]
    assert largest_remainder(10, [26, 37, 37]) == [2, 4, 4]
    assert largest_remainder(0, [5, 7]) == [0, 0]


@given(AMOUNTS, st.lists(st.integers(1, 10**11), min_size=1, max_size=50))
def test_shares_sum_to_the_amount_and_none_is_a_kobo_off_from_its_proportion(amount: int, weights: list[int]) -> None:
    shares = largest_remainder(amount, weights)
    assert sum(shares) == amount
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share * sum(weights) - amount * weight) < sum(weights)


@given(
    st.lists(st.integers(1, 10**11), min_size=1, max_size=50),
    st.tuples(*[st.integers(0, 10**10)] * 5),
)
def test_the_amounts_of_each_item_balance_and_sum_to_those_of_the_order(
    totals: list[int], parts: tuple[int, ...]
) -> None:
    locked, net, commission, fee, refunded = parts
    sale = Sale(PAID_AT, sum(parts), locked, net, commission, fee)
    assert sale.refunded_minor == refunded
    lines = divide_sale(sale, {UUID(int=number): total for number, total in enumerate(totals)})
    for line in lines:
        assert line.gross_minor == sum(line[2:])
    sums = [sum(column) for column in list(zip(*lines, strict=True))[1:]]
    assert sums == [sum(parts), locked, refunded, fee, commission, net]


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50), st.integers(0, 10**6))
def test_an_order_released_as_a_whole_credits_each_item_its_price_less_commission(totals: list[int], fee: int) -> None:
    subtotal = sum(totals)
    commission = subtotal // 20
    sale = Sale(PAID_AT, subtotal + fee, 0, subtotal - commission, commission, fee)
    lines = divide_sale(sale, {UUID(int=number): total for number, total in enumerate(totals)})
    assert [line.net_minor for line in lines] == [
        total - line.commission_minor for total, line in zip(totals, lines, strict=True)
    ]


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50), st.integers(0, 10**6))
def test_an_order_that_was_refunded_as_a_whole_credits_no_item(totals: list[int], fee: int) -> None:
    sale = Sale(PAID_AT, sum(totals) + fee, 0)
    lines = divide_sale(sale, {UUID(int=number): total for number, total in enumerate(totals)})
    assert {(line.refunded_minor == line.gross_minor, line.net_minor) for line in lines} == {(True, 0)}


def test_an_order_of_three_items_is_divided_to_the_kobo() -> None:
    # 3,333 of 9,501 is 3,508.42 of the gross amount, and 2,835 is 2,984.17: the first item gets the kobo that is left.
    # 10,001 kobo: 3,001 in escrow, 5,702 to the vendor, 300 commission, 500 fee, so 498 were refunded.
    sale = Sale(PAID_AT, 10_001, 3_001, 5_702, 300, 500)
    assert sale.refunded_minor == 498
    first, second, third = (UUID(int=number) for number in range(3))
    assert divide_sale(sale, {first: 3_333, second: 3_333, third: 2_835}) == [
        SaleLine(first, 3_509, 1_053, 175, 176, 105, 2_000),
        SaleLine(second, 3_508, 1_053, 175, 175, 105, 2_000),
        SaleLine(third, 2_984, 895, 148, 149, 90, 1_702),
    ]
