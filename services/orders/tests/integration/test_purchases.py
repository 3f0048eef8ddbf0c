"""Purchases: one checkout of several vendors' products (contract section 6.3)."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest

from common.primitives.ids import new_id
from contracts.identity import HubChanged, VendorSuspended
from contracts.orders import OrderPlaced, PurchasePlaced
from orders.domain.carts import cart_id_of
from orders.timers import fire_timers_once
from testkit.responses import data_of

from .conftest import Market
from .purchase_steps import OTHER_VENDOR, bought, lines, purchase, two_products
from .steps import created_sale


async def read(market: Market, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return await market.client.get(f"/api/{path}", headers=headers or market.as_buyer())


def names(response: httpx.Response) -> list[str]:
    assert response.status_code == 409, response.text
    return [param["name"] for param in response.json()["invalid_params"]]


async def counts(market: Market) -> list[int]:
    return [
        (await market.fetch(f"SELECT count(*) FROM {table}"))[0][0]
        for table in ("purchases", "orders", "order_items", "order_timers")
    ]


async def test_a_purchase_has_an_order_for_each_vendor(market: Market) -> None:
    first, second = await two_products(market)
    third = await market.sell(price_minor=7)
    shown = await bought(market, (second, 2), first, third, expectedTotalMinor=167)
    assert [order["vendorId"] for order in shown["orders"]] == [str(OTHER_VENDOR), str(market.vendor_id)]
    assert [order["totalMinor"] for order in shown["orders"]] == [60, 107]
    assert {order["purchaseId"] for order in shown["orders"]} == {shown["id"]}
    assert [item["productId"] for item in shown["orders"][1]["items"]] == [str(first), str(third)]
    due_at = {order["paymentDueAt"] for order in shown["orders"]}
    assert (shown["status"], shown["totalMinor"], shown["currency"]) == ("unpaid", 167, "NGN")
    assert {shown["paymentDueAt"]} == due_at
    assert data_of(await read(market, f"purchases/{shown['id']}")) == shown
    for order in shown["orders"]:
        assert await market.show(order) == order
    assert [await market.stock_of(one) for one in (first, second, third)] == [9, 8, 9]


async def test_a_purchase_is_published_with_its_orders(market: Market) -> None:
    first, second = await two_products(market)
    shown = await bought(market, second, first)
    [event] = await market.published(PurchasePlaced.TYPE)
    assert event["orderIds"] == [order["id"] for order in shown["orders"]]
    assert (event["purchaseId"], event["number"], event["buyerId"]) == (
        shown["id"],
        shown["number"],
        str(market.buyer_id),
    )
    assert (event["totalMinor"], event["paymentDueAt"]) == (130, shown["paymentDueAt"])
    placed = await market.published(OrderPlaced.TYPE)
    assert [(one["orderId"], one["purchaseId"]) for one in placed] == [(id_, shown["id"]) for id_ in event["orderIds"]]


async def test_one_vendor_is_a_purchase_of_one_order(market: Market) -> None:
    shown = await bought(market, await market.sell())
    assert len(shown["orders"]) == 1


async def test_an_order_that_was_checked_out_alone_has_no_purchase(market: Market) -> None:
    assert (await market.ordered())["purchaseId"] is None
    assert await market.fetch("SELECT FROM purchases") == []


async def test_a_cart_of_several_vendors_is_checked_out_and_emptied(market: Market) -> None:
    first, second = await two_products(market)
    for product, quantity in ((first, 2), (second, 3)):
        path = f"/api/carts/current/items/{product}"
        data_of(await market.client.put(path, json={"quantity": quantity}, headers=market.as_buyer()))
    key, cart = uuid4(), {"cartId": str(cart_id_of(market.buyer_id))}
    shown = await bought(market, key=key, **cart)
    assert [order["totalMinor"] for order in shown["orders"]] == [200, 90]
    assert data_of(await read(market, "carts/current"))["items"] == []
    assert (await bought(market, key=key, **cart))["id"] == shown["id"]
    assert (await purchase(market, **cart)).status_code == 422


async def test_a_key_is_bound_to_one_purchase(market: Market) -> None:
    first, second = await two_products(market)
    key = uuid4()
    responses = await asyncio.gather(*(purchase(market, first, second, key=key) for _ in range(5)))
    assert {data_of(response, 201)["id"] for response in responses} == {
        (await bought(market, first, second, key=key))["id"]
    }
    assert (await purchase(market, first, key=key)).status_code == 422
    own_hub = [{"vendorId": str(market.vendor_id), "deliveryNote": "x"}]
    assert (await purchase(market, first, second, key=key, deliveries=own_hub)).status_code == 422
    assert await counts(market) == [1, 2, 2, 2]


@pytest.mark.parametrize("missing", [None, "not a key"])
async def test_a_purchase_needs_a_key(market: Market, missing: str | None) -> None:
    headers = market.as_buyer() | ({} if missing is None else {"Idempotency-Key": missing})
    body = {"items": lines(await market.sell())}
    assert (await market.client.post("/api/purchases", json=body, headers=headers)).status_code == 422


async def test_nothing_is_placed_when_one_item_is_short(market: Market) -> None:
    first, second = await two_products(market, stock=2)
    response = await purchase(market, first, (second, 3))
    assert names(response) == ["items.1.quantity"]
    assert "items[1]" in response.text
    assert await counts(market) == [0, 0, 0, 0]
    assert [await market.stock_of(one) for one in (first, second)] == [2, 2]


async def test_a_removed_product_is_named(market: Market) -> None:
    first, removed = await market.sell(), await market.sell(removed_at=market.clock.now())
    response = await purchase(market, removed, first, new_id())
    assert names(response) == ["items.0.productId", "items.2.productId"]
    assert "items[2]" in response.text
    assert await counts(market) == [0, 0, 0, 0]


async def test_items_of_a_suspended_vendor_are_named(market: Market) -> None:
    first, second = await two_products(market)
    await market.receive(VendorSuspended(vendor_id=OTHER_VENDOR, owner_user_id=new_id(), business_name="B",
                                         legal_name="B", campus_id=market.campus_id, reason="Complaints"))  # fmt: skip
    assert names(await purchase(market, first, second)) == ["items.1.productId"]


async def test_an_item_beyond_its_sale_is_named(market: Market) -> None:
    first, second = await two_products(market, stock=100)
    await created_sale(market, first, quantity=2, perBuyerLimit=2, priceMinor=50)
    assert names(await purchase(market, second, (first, 3))) == ["items.1.quantity"]
    assert (await bought(market, second, (first, 2)))["totalMinor"] == 130
    # Sold out.
    assert names(await purchase(market, second, first, buyer_id=new_id())) == ["items.1.quantity"]


async def test_a_changed_total_is_returned(market: Market) -> None:
    first, second = await two_products(market)
    response = await purchase(market, first, second, expectedTotalMinor=100)
    assert (response.status_code, response.json()["totalMinor"]) == (409, 130)


async def test_each_vendor_may_have_a_delivery_of_its_own(market: Market) -> None:
    first, second = await two_products(market)
    hubs = new_id(), new_id()
    for hub_id, fee_minor in zip(hubs, (5, 11), strict=True):
        await market.receive(HubChanged(hub_id=hub_id, campus_id=market.campus_id, name="Gate",
                                        delivery_fee_minor=fee_minor, active=True))  # fmt: skip
    own = {"vendorId": str(OTHER_VENDOR), "hubId": str(hubs[1]), "deliveryNote": "At the gate"}
    shown = await bought(market, first, second, hubId=str(hubs[0]), deliveryNote="Call me", deliveries=[own])
    assert [(order["hubId"], order["deliveryFeeMinor"], order["deliveryNote"]) for order in shown["orders"]] == [
        (str(hubs[0]), 5, "Call me"),
        (str(hubs[1]), 11, "At the gate"),
    ]
    assert shown["totalMinor"] == 146
    for wrong in ([own, own], [{"vendorId": str(new_id())}]):
        response = await purchase(market, first, second, deliveries=wrong)
        assert response.status_code == 422
        assert response.json()["invalid_params"][0]["name"] == f"deliveries.{len(wrong) - 1}.vendorId"
    absent = str(new_id())
    for body, name in (
        ({"deliveries": [own | {"hubId": absent}]}, "deliveries.0.hubId"),
        ({"deliveries": [own], "hubId": absent}, "hubId"),
    ):
        response = await purchase(market, first, second, **body)
        assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, name)


async def test_two_purchases_of_the_last_piece_place_one(market: Market) -> None:
    first, second = await two_products(market, stock=1)
    buyers = [new_id() for _ in range(8)]
    # Half of them list the products the other way round.
    responses = await asyncio.gather(
        *(purchase(market, *((first, second) if position % 2 else (second, first)), buyer_id=buyer)
          for position, buyer in enumerate(buyers))
    )  # fmt: skip
    assert sorted(response.status_code for response in responses) == [201] + [409] * 7
    for response in responses:
        if response.status_code == 409:
            assert names(response) == ["items.0.quantity", "items.1.quantity"]
    assert [await market.stock_of(one) for one in (first, second)] == [0, 0]
    assert await counts(market) == [1, 2, 2, 2]


async def test_purchases_of_the_same_sales_never_deadlock(market: Market) -> None:
    products = await two_products(market, stock=100)
    await created_sale(market, products[0], quantity=50, perBuyerLimit=9, priceMinor=50)
    sale = await created_sale(market, await market.sell(stock=100, price_minor=1_000), quantity=50, perBuyerLimit=9)
    chosen = (*products, UUID(sale["productId"]))
    responses = await asyncio.gather(
        *(
            purchase(market, *(chosen if position % 2 else reversed(chosen)), buyer_id=new_id())
            for position in range(12)
        )
    )
    assert {response.status_code for response in responses} == {201}
    assert [await market.stock_of(one) for one in chosen] == [88] * 3


async def test_a_number_in_use_is_drawn_again(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = await two_products(market)
    earlier = await bought(market, first, second)
    used = [order["number"] for order in earlier["orders"]]
    drawn = iter([
        earlier["number"], "CM-0000-0001", "CM-0000-0002",
        "CP-0000-0001", "CM-0000-0001", used[0],
        "CP-0000-0001", "CM-0000-0001", "CM-0000-0002",
    ])  # fmt: skip
    monkeypatch.setattr("orders.domain.checkouts.new_number", lambda kind: next(drawn))
    shown = await bought(market, first, second)
    assert [shown["number"], *(order["number"] for order in shown["orders"])] == [
        "CP-0000-0001", "CM-0000-0001", "CM-0000-0002",
    ]  # fmt: skip
    assert await counts(market) == [2, 4, 4, 4]
    assert [await market.stock_of(one) for one in (first, second)] == [8, 8]


async def test_the_status_follows_the_orders(market: Market) -> None:
    first, second = await two_products(market)
    shown = await bought(market, first, second)

    async def status() -> str:
        return str(data_of(await read(market, f"purchases/{shown['id']}"))["status"])

    one, other = shown["orders"]
    assert (await market.post(one, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    assert await status() == "unpaid"
    await market.pay(other)
    assert await status() == "paid"
    await market.pay(one)
    assert await status() == "paid"
    shown = await bought(market, first, second)
    market.clock.advance(timedelta(minutes=16))
    await fire_timers_once(market.dependencies)
    assert await status() == "closed"
    assert [await market.status_of(order) for order in shown["orders"]] == ["expired", "expired"]


async def test_a_purchase_is_visible_to_its_buyer_and_support(market: Market) -> None:
    first, second = await two_products(market)
    shown = await bought(market, first, second)
    path = f"purchases/{shown['id']}"
    support = data_of(await read(market, path, market.as_staff("support_agent")))
    assert [order["id"] for order in support["orders"]] == [order["id"] for order in shown["orders"]]
    others = [market.as_merchant(), market.as_buyer(new_id()), market.as_staff("finance_maker"),
                 market.as_staff("hub_agent", market.campus_id, hub_id=new_id())]  # fmt: skip
    for headers in others:
        assert (await read(market, path, headers)).status_code == 404
        assert data_of(await read(market, "purchases", headers)) == []
    assert (await market.show(shown["orders"][0], market.as_merchant()))["purchaseId"] == shown["id"]


async def test_finance_reads_a_purchase_with_its_charged_orders(market: Market) -> None:
    made = await bought(market, *await two_products(market))
    path, finance = f"purchases/{made['id']}", market.as_staff("finance_checker")
    assert (await read(market, path, finance)).status_code == 404
    statement = "UPDATE orders SET charge_quarantined_at = now() WHERE id = ANY ($1::uuid[]) RETURNING 1"
    await market.fetch(statement, [made["orders"][0]["id"]])
    shown = data_of(await read(market, path, finance))
    assert (shown["number"], [order["id"] for order in shown["orders"]]) == (made["number"], [made["orders"][0]["id"]])
    assert [order["buyerName"] for order in shown["orders"]] == [None]
    await market.fetch(statement, [order["id"] for order in made["orders"]])
    shown = data_of(await read(market, path, finance))
    assert (shown["totalMinor"], len(shown["orders"])) == (made["totalMinor"], 2)
    assert data_of(await read(market, "purchases", finance)) == []


async def test_purchases_are_listed_newest_first_by_cursor(market: Market) -> None:
    product = await market.sell(stock=100)
    placed = []
    for _ in range(3):
        market.clock.advance(timedelta(seconds=1))
        placed.append((await bought(market, product))["id"])
    await bought(market, product, buyer_id=new_id())
    page = (await read(market, "purchases?limit=2")).json()
    assert [one["id"] for one in page["data"]] == placed[:0:-1]
    last = (await read(market, f"purchases?limit=2&cursor={page['meta']['next_cursor']}")).json()
    assert [one["id"] for one in last["data"]] == placed[:1]


async def test_a_purchase_is_found_by_number_and_id(market: Market) -> None:
    first, second = await two_products(market)
    shown = await bought(market, first, second)
    await bought(market, first)
    support = market.as_staff("support_agent")
    for typed in (shown["number"], shown["number"].lower().replace("-", " "), shown["id"].upper()):
        for headers in (market.as_buyer(), support):
            listed = (await market.client.get("/api/purchases", params={"q": typed}, headers=headers)).json()["data"]
            assert [one["id"] for one in listed] == [shown["id"]], typed
            for path in ("/api/orders", "/api/campus-orders"):
                if path == "/api/campus-orders" and headers != support:
                    continue
                found = (await market.client.get(path, params={"q": typed}, headers=headers)).json()["data"]
                assert {order["id"] for order in found} == {order["id"] for order in shown["orders"]}, (typed, path)
    listed = data_of(await read(market, f"purchases?q={shown['number'][:-1]}"))
    assert [one["id"] for one in listed] == [shown["id"]]
    assert data_of(await read(market, "purchases?q=nothing")) == []


async def test_no_purchase_holds_products_of_its_buyers_own_vendor(market: Market) -> None:
    first, second = await two_products(market)
    headers = market.as_merchant() | {"Idempotency-Key": str(uuid4())}
    response = await market.client.post("/api/purchases", json={"items": lines(second, first)}, headers=headers)
    assert response.status_code == 403
    assert await counts(market) == [0, 0, 0, 0]
