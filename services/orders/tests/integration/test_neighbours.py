"""A change of one order changes no row of another order, whatever state that one is in."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest

from common.primitives.ids import new_id
from testkit.neighbours import Story, assert_isolated
from testkit.responses import data_of

from .conftest import Market
from .factories import escrow_refunded, refund_settled
from .steps import (
    paid_sale,
    put_in_cart,
    state_escrow,
)
from .stories import name_vendor, sale_story


async def cancel_story(market: Market) -> AsyncIterator[str]:
    """Yield an order that is cancelled before and after its payment, and refunded."""
    await name_vendor(market, "Ada's Kitchen")
    product = await market.sell(price_minor=1_000, stock=9)
    order = await market.ordered(product, 2)
    yield "placed"
    assert (await market.post(order, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    yield "cancelled"
    await market.pay(order)
    yield "paid late"
    assert (await market.post(order, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    assert (await market.status_of(order), await market.stock_of(product)) == ("refund_pending", 9)
    yield "refund pending"
    requested = await market.published("orders.refund_requested.v1")
    [refund_id] = [event["refundId"] for event in requested if event["orderId"] == order["id"]]
    await market.receive(escrow_refunded(order, refund_id, 2_000))
    await market.receive(refund_settled(order, refund_id, 2_000))
    assert (await market.status_of(order), (await market.show(order))["refundedMinor"]) == ("refunded", 2_000)
    yield "refunded"


async def figures_story(market: Market) -> AsyncIterator[str]:
    """Yield an order whose escrow payments state again and again."""
    await name_vendor(market, "Ada's Kitchen")
    order = await paid_sale(market, (1_000, 2), (300, 1))
    yield "paid"
    await state_escrow(market, order, 2, locked=2_300)
    yield "stated"
    await state_escrow(market, order, 3, net=2_300)
    await name_vendor(market, "Ada's Canteen", sequence=2)
    assert (
        await market.fetch(
            "SELECT FROM products WHERE vendor_name <> $1 AND vendor_id = $2", "Ada's Canteen", market.vendor_id
        )
        == []
    )
    yield "stated again, and the vendor renamed"


@pytest.mark.parametrize("story", [sale_story, cancel_story, figures_story])
async def test_no_row_of_another_order_changes(market: Market, story: Story[Market]) -> None:
    await assert_isolated(story, lambda: Market(market.app, market.clock), market.fetch)


async def test_the_key_of_a_buyer_is_free_for_the_vendor_who_sees_the_order(market: Market) -> None:
    """A merchant reads the orders of the own vendor: their keys are not the merchant's."""
    key, elsewhere = uuid4(), new_id()
    order = await market.ordered(key=key)
    assert (
        await put_in_cart(market, await market.sell(vendor_id=elsewhere), buyer_id=market.merchant_id)
    ).status_code == 200
    cart = data_of(await market.client.get("/api/carts/current", headers=market.as_merchant()))
    body = {"cartId": cart["id"], "vendorId": str(elsewhere)}
    headers = market.as_merchant(idempotency_key=key)
    bought = data_of(await market.client.post("/api/orders/checkout", json=body, headers=headers), 201)
    assert (bought["vendorId"], bought["buyerId"]) == (str(elsewhere), str(market.merchant_id))
    assert bought["id"] != order["id"]
    with_key = await market.fetch("SELECT id FROM orders WHERE idempotency_key = $1 ORDER BY created_at, id", key)
    assert {row["id"] for row in with_key} == {UUID(order["id"]), UUID(bought["id"])}
