"""What happens to one order changes no row of another order, whatever state that one is in."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.primitives.ids import new_id
from contracts.identity import VendorApproved
from orders.timers import fire_timers_once
from testkit.neighbours import Story, assert_isolated

from .conftest import Market
from .factories import escrow_refunded, refund_failed, refund_settled
from .responses import data_of
from .test_carts import put
from .test_flash_sales import approve, created_sale, proposed
from .test_returns import decide, requested_return
from .test_sales import paid_sale, state_escrow


async def sale_story(market: Market) -> AsyncIterator[str]:
    """Yield an order of a flash sale that expires, is paid late, delivered and returned; its refund fails and is paid
    later.
    """
    await named(market, "Ada's Kitchen")
    product, further = await market.sell(price_minor=1_000, stock=9), await market.sell(price_minor=500, stock=9)
    waiting = await proposed(market, further, priceMinor=100, quantity=9, perBuyerLimit=9)
    yield "proposed"
    assert (await approve(market, waiting)).status_code == 200
    await created_sale(market, product, quantity=4, perBuyerLimit=2)
    items = [{"productId": str(product), "quantity": 2}, {"productId": str(further), "quantity": 3}]
    headers = market.as_buyer(idempotency_key=uuid4())
    order = data_of(await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers), 201)
    market.clock.advance(timedelta(minutes=15))
    assert await fire_timers_once(market.app.dependencies) == 1
    assert [await market.stock_of(product), await market.stock_of(further)] == [9, 9]
    yield "expired"
    await market.pay(order)
    assert [await market.stock_of(product), await market.stock_of(further)] == [7, 6]
    yield "paid"
    pin = await market.pin_of(order)
    assert (await market.verify(order, f"{(int(pin) + 1) % 10**6:06d}")).status_code == 400
    yield "a wrong attempt"
    assert (await market.verify(order, pin)).status_code == 200
    yield "delivered"
    request = await requested_return(market, order, 1, 1)
    yield "return requested"
    refund_id = data_of(await decide(market, request))["refundId"]
    yield "return approved"
    await market.receive(refund_failed(order, refund_id, 700))
    assert await refund_status(market, refund_id) == "failed"
    yield "refund failed"
    await market.receive(escrow_refunded(order, refund_id, 700, remaining_minor=order["totalMinor"] - 700))
    await market.receive(refund_settled(order, refund_id, 700))
    assert (await market.show(order))["refundedMinor"] == 700
    assert await refund_status(market, refund_id) == "settled"
    yield "refund paid"
    await close(market, waiting)
    yield "sale closed"


async def cancel_story(market: Market) -> AsyncIterator[str]:
    """Yield an order that is cancelled before and after its payment, and refunded."""
    await named(market, "Ada's Kitchen")
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
    await named(market, "Ada's Kitchen")
    order = await paid_sale(market, (1_000, 2), (300, 1))
    yield "paid"
    await state_escrow(market, order, 2, locked=2_300)
    yield "stated"
    await state_escrow(market, order, 3, net=2_300)
    await named(market, "Ada's Canteen", sequence=2)
    assert (
        await market.fetch(
            "SELECT FROM products WHERE vendor_name <> $1 AND vendor_id = $2", "Ada's Canteen", market.vendor_id
        )
        == []
    )
    yield "stated again, and the vendor renamed"


async def named(market: Market, name: str, sequence: int = 1) -> None:
    await market.receive(
        VendorApproved(
            vendor_id=market.vendor_id,
            owner_user_id=market.merchant_id,
            business_name=name,
            legal_name=name,
            campus_id=market.campus_id,
        ),
        sequence=sequence,
    )


async def refund_status(market: Market, refund_id: str) -> str:
    [row] = await market.fetch("SELECT status FROM order_refunds WHERE id = $1", UUID(refund_id))
    return str(row["status"])


async def close(market: Market, sale: dict[str, Any]) -> None:
    response = await market.client.post(f"/api/flash-sales/{sale['id']}/end", json={}, headers=market.as_merchant())
    assert (response.status_code, response.json()["data"]["status"]) == (200, "ended")


@pytest.mark.parametrize("story", [sale_story, cancel_story, figures_story])
async def test_no_row_of_another_order_changes(market: Market, story: Story[Market]) -> None:
    await assert_isolated(story, lambda: Market(market.app, market.clock), market.fetch)


async def test_the_key_of_a_buyer_is_free_for_the_vendor_who_sees_the_order(market: Market) -> None:
    """A merchant reads the orders of the own vendor: their keys are not the merchant's."""
    key, elsewhere = uuid4(), new_id()
    order = await market.ordered(key=key)
    assert (await put(market, await market.sell(vendor_id=elsewhere), buyer_id=market.merchant_id)).status_code == 200
    cart = data_of(await market.client.get("/api/carts/current", headers=market.as_merchant()))
    body = {"cartId": cart["id"], "vendorId": str(elsewhere)}
    headers = market.as_merchant(idempotency_key=key)
    bought = data_of(await market.client.post("/api/orders/checkout", json=body, headers=headers), 201)
    assert (bought["vendorId"], bought["buyerId"]) == (str(elsewhere), str(market.merchant_id))
    assert bought["id"] != order["id"]
    with_key = await market.fetch("SELECT id FROM orders WHERE idempotency_key = $1 ORDER BY created_at, id", key)
    assert {row["id"] for row in with_key} == {UUID(order["id"]), UUID(bought["id"])}
