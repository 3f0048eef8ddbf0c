"""Problems after the payment: disputes resolved by maker and checker, returned products, and the ledgers at the end."""

import asyncio
import csv
import io
from uuid import uuid4

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.steps import (
    delivered_order,
    dispute_order,
    frozen,
    ledgers_agree,
    paid_order,
    placed_order,
    refunded_at_the_gateway,
    release,
)

from .conftest import Users

ROUNDS = 6


async def test_a_split_of_a_partly_released_order_gives_each_a_part_and_ledgers_agree(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    total = order["totalMinor"]
    assert (await release(market, users, order, total // 5)).json()["data"][
        "remainingLockedMinor"
    ] == total - total // 5
    assert (await dispute_order(market, users.buyer, order)).json()["data"]["status"] == "disputed"
    await frozen(market, users, order)
    refund_minor = total // 2
    body = {"outcome": "split", "refundMinor": refund_minor}
    prepared = await market.post(f"/api/orders/{order['id']}/resolve", body, users.support)
    assert prepared["status"] == "prepared"
    url = f"/api/dispute-resolutions/{prepared['resolutionId']}"
    one_factor = await market.sign_in("checker@campus.example")
    for user, code in ((one_factor, "AUTH_AAL2_REQUIRED"), (users.support, "AUTH_FORBIDDEN")):
        refused = await market.http.post(f"{url}/approve", headers=user.headers)
        assert (refused.status_code, refused.json()["code"]) == (403, code)
    responses = await asyncio.gather(
        *(
            market.http.post(f"{url}/approve", json={"hash": prepared["hash"]}, headers=users.checker.headers)
            for _ in range(5)
        )
    )
    assert {response.status_code for response in responses} == {200}
    resolution = await market.get(url, users.auditor)
    assert (resolution["status"], resolution["refundMinor"]) == ("approved", refund_minor)
    await market.order_reaches(users.buyer, order["id"], "paid")
    shown = await refunded_at_the_gateway(market, users, order, refund_minor, resolution["refundId"])
    assert shown["status"] == "paid"
    await ledgers_agree(system, market)


async def test_a_dispute_resolved_for_the_buyer_ends_refunded(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    await dispute_order(market, users.buyer, order)
    await frozen(market, users, order)
    prepared = await market.post(f"/api/orders/{order['id']}/resolve", {"outcome": "buyer"}, users.support)
    url = f"/api/dispute-resolutions/{prepared['resolutionId']}/approve"
    assert (await market.post(url, {"hash": prepared["hash"]}, users.checker))["status"] == "refund_pending"
    shown = await market.order_reaches(users.buyer, order["id"], "refunded")
    assert shown["refundedMinor"] == order["totalMinor"]
    await ledgers_agree(system, market)


async def test_products_returned_after_release_are_refunded_at_the_gateway_and_notified(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users, 3)
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    pin = await market.delivery_pin(users.buyer, order["id"])
    await market.verify_delivery(users.vendor, order["id"], pin)
    await market.order_reaches(users.buyer, order["id"], "paid")
    hidden = await market.http.get(f"/api/orders/{order['id']}/delivery-pin", headers=users.buyer.headers)
    assert (hidden.status_code, hidden.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    [item] = order["items"]

    async def returned(quantity):
        body = {"items": [{"itemId": item["id"], "quantity": quantity}], "reason": "The zip is torn."}
        request = await market.post(f"/api/orders/{order['id']}/return-requests", body, users.buyer)
        approved = await market.post(f"/api/return-requests/{request['id']}/approve", {}, users.vendor)
        assert approved["status"] == "approved"
        return approved

    first = await returned(1)
    assert first["refundMinor"] == item["unitPriceMinor"]
    shown = await refunded_at_the_gateway(market, users, order, item["unitPriceMinor"], first["refundId"])
    assert shown["status"] == "paid"
    rest = await returned(2)
    assert rest["refundMinor"] == order["totalMinor"] - item["unitPriceMinor"]
    await market.order_reaches(users.buyer, order["id"], "refunded")
    await refunded_at_the_gateway(market, users, order, order["totalMinor"], first["refundId"], rest["refundId"])
    for user in (users.buyer, users.vendor):

        async def notices(user=user):
            feed = await market.get("/api/notifications", user, params={"limit": 100})
            return [line for line in feed if line["title"] == "Return request"] or None

        assert len(await market.until("the notice of the return", notices, 60)) >= 1
    await ledgers_agree(system, market)


async def test_dispute_and_right_pin_at_once_have_one_end_and_the_money_follows(
    system: System, market: Marketplace, users: Users
) -> None:
    orders = [await paid_order(market, users) for _ in range(ROUNDS)]
    for number, order in enumerate(orders):
        pin = await market.delivery_pin(users.buyer, order["id"])
        headers = {**users.vendor.headers, "Idempotency-Key": str(uuid4())}
        verify = market.http.post(f"/api/orders/{order['id']}/verify-delivery", json={"pin": pin}, headers=headers)
        both = [dispute_order(market, users.buyer, order), verify]
        responses = await asyncio.gather(*(both if number % 2 else both[::-1]))
        assert sorted(response.status_code for response in responses) == [200, 409]
        if (await market.order(users.buyer, order["id"]))["status"] == "disputed":
            await frozen(market, users, order)
        else:
            await market.order_reaches(users.buyer, order["id"], "paid")
    await ledgers_agree(system, market)


async def test_staff_see_the_orders_of_their_campus_and_export_them(market: Marketplace, users: Users) -> None:
    order = await delivered_order(market, users)
    query = {"campusId": order["campusId"], "status": "paid", "from": order["createdAt"]}
    for user in (users.campus, users.support, users.auditor):
        rows = await market.get("/api/campus-orders", user, params={**query, "limit": 100})
        assert order["id"] in {row["id"] for row in rows}
    response = await market.http.get("/api/campus-orders/export", params=query, headers=users.campus.headers)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert order["id"] in {row["id"] for row in csv.DictReader(io.StringIO(response.content.decode("utf-8-sig")))}
    refused = await market.http.get("/api/campus-orders", headers=users.buyer.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
