"""Stories of orders, for the tests of isolation and locks."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from contracts.identity import VendorApproved
from orders.timers import fire_timers_once
from testkit.responses import data_of

from .conftest import Market
from .factories import escrow_refunded, refund_failed, refund_settled
from .steps import (
    approve_sale,
    created_sale,
    decide_return,
    proposed_sale,
    requested_return,
)


async def sale_story(market: Market) -> AsyncIterator[str]:
    """Yield an order of a flash sale that expires, is paid late, delivered and returned; its refund fails and is paid
    later.
    """
    await name_vendor(market, "Ada's Kitchen")
    product, further = await market.sell(price_minor=1_000, stock=9), await market.sell(price_minor=500, stock=9)
    waiting = await proposed_sale(market, further, priceMinor=100, quantity=9, perBuyerLimit=9)
    yield "proposed"
    assert (await approve_sale(market, waiting)).status_code == 200
    await created_sale(market, product, quantity=4, perBuyerLimit=2)
    items = [{"productId": str(product), "quantity": 2}, {"productId": str(further), "quantity": 3}]
    headers = market.as_buyer(idempotency_key=uuid4())
    order = data_of(await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers), 201)
    market.clock.advance(timedelta(minutes=15))
    assert await fire_timers_once(market.dependencies) == 1
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
    refund_id = data_of(await decide_return(market, request))["refundId"]
    yield "return approved"
    await market.receive(refund_failed(order, refund_id, 700))
    assert await refund_status(market, refund_id) == "failed"
    yield "refund failed"
    await market.receive(escrow_refunded(order, refund_id, 700, remaining_minor=order["totalMinor"] - 700))
    await market.receive(refund_settled(order, refund_id, 700))
    assert (await market.show(order))["refundedMinor"] == 700
    assert await refund_status(market, refund_id) == "settled"
    yield "refund paid"
    await end_sale(market, waiting)
    yield "sale closed"


async def name_vendor(market: Market, name: str, sequence: int = 1) -> None:
    await market.receive(market.vendor_event(VendorApproved, business_name=name, legal_name=name), sequence=sequence)


async def refund_status(market: Market, refund_id: str) -> str:
    [row] = await market.fetch("SELECT status FROM order_refunds WHERE id = $1", UUID(refund_id))
    return str(row["status"])


async def end_sale(market: Market, sale: dict[str, Any]) -> None:
    response = await market.client.post(f"/api/flash-sales/{sale['id']}/end", json={}, headers=market.as_merchant())
    assert (response.status_code, response.json()["data"]["status"]) == (200, "ended")
