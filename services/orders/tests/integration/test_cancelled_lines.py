"""Vendor and support cancel one line of a paid order before its dispatch (contract section 6)."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from common.primitives.clock import iso
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of
from testkit.service_kit import second_factor_at

from .conftest import Market
from .steps import CANCEL_REASON, cancel_line, paid_pair


async def refunds(market: Market) -> list[tuple[int, int | None, int | None]]:
    events = await market.published("orders.refund_requested.v1")
    return [(event["amountMinor"], event.get("commissionMinor"), event.get("deliveryFeeMinor")) for event in events]


@pytest.mark.parametrize("role", ["vendor", "support"])
async def test_a_cancelled_line_refunds_its_price_and_commission_once(market: Market, role: str) -> None:
    order = await paid_pair(market)
    stock = [await market.stock_of(UUID(item["productId"])) for item in order["items"]]
    headers = market.as_merchant() if role == "vendor" else market.as_staff("support_agent", stepped_up=True)
    responses = await asyncio.gather(*(cancel_line(market, order, headers=headers) for _ in range(3)))
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


async def test_an_item_and_the_timeline_show_the_cancellation_to_every_reader(market: Market) -> None:
    order = await paid_pair(market)
    revision = (await market.show(order))["revision"]
    market.clock.advance(timedelta(minutes=3))
    cancelled_at = iso(market.clock.now())
    await cancel_line(market, order)
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        shown = data_of(await market.client.get(f"/api/orders/{order['id']}", headers=headers))
        assert [item["cancelledAt"] for item in shown["items"]] == [None, cancelled_at]
        timeline = data_of(await market.client.get(f"/api/orders/{order['id']}/timeline", headers=headers))
        assert (timeline[-1]["event"], timeline[-1]["occurredAt"]) == ("line_cancelled", cancelled_at)
    assert shown["revision"] == revision + 1
    [event] = await market.published("orders.order_line_cancelled.v1")
    assert (event["itemId"], event["quantity"], event["amountMinor"]) == (order["items"][1]["id"], 1, 40_000)
    assert (event["reason"], event["cancelledAt"]) == (CANCEL_REASON["reason"], cancelled_at)


async def test_the_vendors_share_is_that_of_the_kept_items(market: Market) -> None:
    order = await paid_pair(market)
    path = f"/api/orders/{order['id']}"
    paid = data_of(await market.client.get(path, headers=market.as_merchant()))
    assert paid["vendorShareMinor"] == paid["subtotalMinor"] - paid["commissionMinor"]
    await cancel_line(market, order)
    [(amount_minor, commission_minor, _)] = await refunds(market)
    left = data_of(await market.client.get(path, headers=market.as_merchant()))
    assert left["vendorShareMinor"] == paid["vendorShareMinor"] - (amount_minor - commission_minor)
    assert "vendorShareMinor" not in data_of(await market.client.get(path, headers=market.as_buyer()))


async def test_a_cancelled_item_has_no_review(market: Market) -> None:
    order = await paid_pair(market)
    await cancel_line(market, order)
    await market.verify(order, await market.pin_of(order))
    for item, status in zip(order["items"], (201, 422), strict=True):
        body = {"orderId": order["id"], "rating": 4, "text": "Good"}
        path = f"/api/products/{item['productId']}/reviews"
        response = await market.client.post(path, json=body, headers=market.as_buyer())
        assert response.status_code == status, response.text


async def test_the_last_line_cancels_the_order_with_the_rest_of_its_money(market: Market) -> None:
    order = await paid_pair(market)
    data_of(await cancel_line(market, order))
    assert data_of(await cancel_line(market, order, 0))["status"] == "refund_pending"
    amounts = [amount for amount, *_ in await refunds(market)]
    assert (amounts[0], sum(amounts)) == (40_000, order["totalMinor"])
    # The cancelled line's unit is sold out; the other ones return to the stock.
    assert [await market.stock_of(UUID(item["productId"])) for item in order["items"]] == [10, 9]


async def test_a_cancelled_order_refunds_what_its_lines_left(market: Market) -> None:
    order = await paid_pair(market)
    data_of(await cancel_line(market, order))
    data_of(await market.post(order, "cancel", market.as_merchant(), CANCEL_REASON))
    assert sum(amount for amount, *_ in await refunds(market)) == order["totalMinor"]


async def test_only_vendor_and_support_cancel_a_line_before_the_dispatch(market: Market) -> None:
    order = await paid_pair(market)
    for headers in (market.as_buyer(), market.as_staff("auditor")):
        assert error_of(await cancel_line(market, order, headers=headers)) == FORBIDDEN
    an_hour_ago = market.as_staff("support_agent", amr=[second_factor_at(market.clock.now() - timedelta(hours=1))])
    assert (await cancel_line(market, order, headers=an_hour_ago)).status_code == 403
    other = await market.paid()
    item = other["items"][0]["id"]
    assert error_of(await market.post(order, f"items/{item}/cancel", market.as_merchant(), CANCEL_REASON)) == NOT_FOUND
    await market.post(order, "dispatch", market.as_merchant())
    assert error_of(await cancel_line(market, order)) == CONFLICT
    assert await refunds(market) == []


async def test_a_dispute_divides_what_is_left_of_the_order(market: Market) -> None:
    order = await paid_pair(market)
    data_of(await cancel_line(market, order))
    await market.post(order, "dispatch", market.as_merchant())
    await market.post(order, "dispute", market.as_buyer(), {"reason": "never came", "details": "I waited."})
    support = market.as_staff("support_agent")
    left = order["totalMinor"] - 40_000
    refused = await market.post(order, "resolve", support, {"outcome": "split", "refundMinor": left})
    assert refused.status_code == 422
    resolution = data_of(await market.post(order, "resolve", support, {"outcome": "buyer"}), 201)
    data_of(await market.approve_resolution(resolution["resolutionId"]))
    assert sum(amount for amount, *_ in await refunds(market)) == order["totalMinor"]
