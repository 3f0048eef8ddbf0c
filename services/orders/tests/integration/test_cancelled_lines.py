"""Vendor and support cancel one line of a paid order before its dispatch (contract section 6)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from .conftest import Market
from .responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of

REASON = {"reason": "Sold out at the counter"}


async def paid_pair(market: Market) -> dict[str, Any]:
    """Return a paid order of two lines: 2 x 150,000 and 1 x 40,000 kobo."""
    rice, beans = await market.sell(), await market.sell(price_minor=40_000)
    items = [{"productId": str(rice), "quantity": 2}, {"productId": str(beans), "quantity": 1}]
    headers = market.as_buyer(idempotency_key=uuid4())
    response = await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)
    order: dict[str, Any] = data_of(response, 201)
    await market.pay(order)
    return order


async def cancel(
    market: Market, order: dict[str, Any], position: int = 1, headers: dict[str, str] | None = None
) -> httpx.Response:
    item = order["items"][position]["id"]
    return await market.post(order, f"items/{item}/cancel", headers or market.as_merchant(), REASON)


async def refunds(market: Market) -> list[tuple[int, int | None, int | None]]:
    events = await market.published("orders.refund_requested.v1")
    return [(event["amountMinor"], event.get("commissionMinor"), event.get("deliveryFeeMinor")) for event in events]


@pytest.mark.parametrize("role", ["vendor", "support"])
async def test_a_cancelled_line_refunds_its_price_and_commission_once(market: Market, role: str) -> None:
    order = await paid_pair(market)
    stock = [await market.stock_of(UUID(item["productId"])) for item in order["items"]]
    headers = market.as_merchant() if role == "vendor" else market.as_staff("support_agent", stepped_up=True)
    responses = await asyncio.gather(*(cancel(market, order, headers=headers) for _ in range(3)))
    assert [data_of(response)["status"] for response in responses] == ["paid_escrow"] * 3
    [(amount_minor, commission_minor, fee_minor)] = await refunds(market)
    share = order["commissionMinor"] if order.get("commissionMinor") else commission_minor
    assert (amount_minor, fee_minor, commission_minor is not None and commission_minor <= share) == (40_000, 0, True)
    assert [await market.stock_of(UUID(item["productId"])) for item in order["items"]] == stock
    path = f"/api/orders/{order['id']}/return-requests"
    [shown] = data_of(await market.client.get(path, headers=market.as_buyer()))
    assert (shown["status"], shown["cancelsLines"], shown["refundMinor"]) == ("approved", True, 40_000)
    assert [item["itemId"] for item in shown["items"]] == [order["items"][1]["id"]]
    assert (await market.post(order, "dispatch", market.as_merchant())).status_code == 200


async def test_the_last_line_cancels_the_order_with_the_rest_of_its_money(market: Market) -> None:
    order = await paid_pair(market)
    data_of(await cancel(market, order))
    assert data_of(await cancel(market, order, 0))["status"] == "refund_pending"
    amounts = [amount for amount, *_ in await refunds(market)]
    assert (amounts[0], sum(amounts)) == (40_000, order["totalMinor"])
    # The cancelled line's unit is sold out; the other ones return to the stock.
    assert [await market.stock_of(UUID(item["productId"])) for item in order["items"]] == [10, 9]


async def test_a_cancelled_order_refunds_what_its_lines_left(market: Market) -> None:
    order = await paid_pair(market)
    data_of(await cancel(market, order))
    data_of(await market.post(order, "cancel", market.as_merchant(), REASON))
    assert sum(amount for amount, *_ in await refunds(market)) == order["totalMinor"]


async def test_only_vendor_and_support_cancel_a_line_before_the_dispatch(market: Market) -> None:
    order = await paid_pair(market)
    for headers in (market.as_buyer(), market.as_staff("auditor")):
        assert error_of(await cancel(market, order, headers=headers)) == FORBIDDEN
    an_hour_ago = market.as_staff("support_agent", factor_age=timedelta(hours=1))
    assert (await cancel(market, order, headers=an_hour_ago)).status_code == 403
    other = await market.paid()
    item = other["items"][0]["id"]
    assert error_of(await market.post(order, f"items/{item}/cancel", market.as_merchant(), REASON)) == NOT_FOUND
    await market.post(order, "dispatch", market.as_merchant())
    assert error_of(await cancel(market, order)) == CONFLICT
    assert await refunds(market) == []


async def test_a_dispute_divides_what_is_left_of_the_order(market: Market) -> None:
    order = await paid_pair(market)
    data_of(await cancel(market, order))
    await market.post(order, "dispatch", market.as_merchant())
    await market.post(order, "dispute", market.as_buyer(), {"reason": "never came", "details": "I waited."})
    support = market.as_staff("support_agent")
    left = order["totalMinor"] - 40_000
    refused = await market.post(order, "resolve", support, {"outcome": "split", "refundMinor": left})
    assert refused.status_code == 422
    resolution = data_of(await market.post(order, "resolve", support, {"outcome": "buyer"}), 201)
    data_of(await market.approve_resolution(resolution["resolutionId"]))
    assert sum(amount for amount, *_ in await refunds(market)) == order["totalMinor"]
