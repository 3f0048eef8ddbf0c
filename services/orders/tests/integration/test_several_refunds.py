"""An order with several refunds is `refunded` once all of them are settled (contract section 6.2)."""

from itertools import permutations

import pytest

from .conftest import Market
from .factories import Order, refund_failed, refund_settled
from .steps import cancel_line, paid_pair

REFUNDS = ("line", "rest")


async def refund_ids(market: Market, order: Order) -> dict[str, str]:
    """Cancel one line of the paid order and then the order; return the ids of the two refunds."""
    await cancel_line(market, order)
    assert (await market.post(order, "cancel", market.as_merchant(), {"reason": "sold out"})).status_code == 200
    events = await market.published("orders.refund_requested.v1")
    return dict(zip(REFUNDS, [event["refundId"] for event in events], strict=True))


@pytest.mark.parametrize("sequence", list(permutations(REFUNDS)), ids="-".join)
async def test_an_order_is_refunded_by_the_last_settlement_of_two(market: Market, sequence: tuple[str, str]) -> None:
    order = await paid_pair(market)
    ids = await refund_ids(market, order)
    shown = []
    for name in sequence:
        await market.receive(refund_settled(order, ids[name], 1))
        shown.append(await market.status_of(order))
    assert shown == ["refund_pending", "refunded"]


async def test_a_line_refunded_before_the_cancellation_counts_as_settled(market: Market) -> None:
    order = await paid_pair(market)
    await cancel_line(market, order)
    [line] = await market.published("orders.refund_requested.v1")
    await market.receive(refund_settled(order, line["refundId"], line["amountMinor"]))
    assert await market.status_of(order) == "paid_escrow"
    await market.post(order, "cancel", market.as_merchant(), {"reason": "sold out"})
    _, rest = await market.published("orders.refund_requested.v1")
    await market.receive(refund_settled(order, rest["refundId"], rest["amountMinor"]))
    assert await market.status_of(order) == "refunded"


async def test_a_settlement_that_is_reversed_waits_for_both_again(market: Market) -> None:
    order = await paid_pair(market)
    ids = await refund_ids(market, order)
    shown = []
    for event, name in (
        (refund_settled, "rest"),
        (refund_failed, "rest"),
        (refund_settled, "line"),
        (refund_settled, "rest"),
        (refund_failed, "line"),
        (refund_settled, "line"),
    ):
        await market.receive(event(order, ids[name], 1))
        shown.append(await market.status_of(order))
    assert shown == ["refund_pending", "refund_pending", "refund_pending", "refunded", "refund_pending", "refunded"]


async def test_a_late_settlement_of_a_refund_that_failed_since_is_stale(market: Market) -> None:
    order = await paid_pair(market)
    ids = await refund_ids(market, order)
    first = await market.receive(refund_settled(order, ids["line"], 1), sequence=1_000)
    await market.receive(refund_failed(order, ids["line"], 1), sequence=first.sequence + 2)
    await market.receive(refund_settled(order, ids["line"], 1), sequence=first.sequence + 1)
    await market.receive(refund_settled(order, ids["rest"], 1))
    assert await market.status_of(order) == "refund_pending"
