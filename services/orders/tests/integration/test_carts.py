"""The cart: the same on every device, consistent with the catalog, and checked out once."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from orders.domain.carts import KEPT
from testkit.responses import NOT_FOUND, data_of, error_of, invalid_field_of

from .conftest import Market
from .steps import put_in_cart


async def cart(market: Any, buyer_id: UUID | None = None) -> dict[str, Any]:
    return data_of(await market.client.get("/api/carts/current", headers=market.as_buyer(buyer_id)))


async def check_out(market: Any, body: dict[str, Any], key: UUID | None = None, buyer_id: UUID | None = None) -> Any:
    headers = market.as_buyer(buyer_id, idempotency_key=key or uuid4())
    return await market.client.post("/api/orders/checkout", json=body, headers=headers)


async def test_the_cart_shows_current_prices_and_stock(market: Market) -> None:
    rice, stew = await market.sell(price_minor=1_000, stock=5), await market.sell(price_minor=500, stock=5, name="Stew")
    removed = await market.sell(price_minor=700)
    for product_id, quantity in ((rice, 2), (stew, 3), (removed, 1)):
        assert (await put_in_cart(market, product_id, quantity)).status_code == 200
        market.clock.advance(timedelta(seconds=1))
    shown = await cart(market)
    assert [(item["quantity"], item["priceChanged"], item["inStock"]) for item in shown["items"]] == [
        (2, False, True),
        (3, False, True),
        (1, False, True),
    ]
    assert shown["totalMinor"] == 2 * 1_000 + 3 * 500 + 700
    await market.fetch("UPDATE products SET price_minor = 1200 WHERE id = $1", rice)
    await market.fetch("UPDATE products SET stock = 2 WHERE id = $1", stew)
    await market.fetch("UPDATE products SET removed_at = now() WHERE id = $1", removed)
    shown = await cart(market)
    assert [
        (item["productId"], item["unitPriceMinor"], item["priceChanged"], item["inStock"], item["available"])
        for item in shown["items"]
    ] == [(str(rice), 1_200, True, True, 5), (str(stew), 500, False, False, 2), (str(removed), 700, False, False, 0)]
    assert shown["totalMinor"] == 2 * 1_200
    seen = (await put_in_cart(market, rice, 1)).json()["data"]
    assert (seen["items"][0]["priceChanged"], seen["items"][0]["quantity"]) == (False, 1)
    assert (seen["id"], (await cart(market))["id"]) == (shown["id"], shown["id"])


async def test_invalid_items_are_rejected_and_removing_an_absent_item_changes_nothing(market: Market) -> None:
    rice = await market.sell()
    assert (await put_in_cart(market, new_id())).status_code == 404
    assert (await put_in_cart(market, rice, 0)).status_code == 422
    assert (await put_in_cart(market, rice, 100)).status_code == 422
    assert (await put_in_cart(market, rice, "2")).status_code == 422
    client, path = market.client, f"/api/carts/current/items/{rice}"
    assert (await client.put(path, json={"quantity": 1})).status_code == 401
    assert (await client.put(path, json={"quantity": 1, "price": 1}, headers=market.as_buyer())).status_code == 422
    assert (await cart(market))["items"] == []
    assert (await client.delete(path, headers=market.as_buyer())).json()["data"]["items"] == []
    await put_in_cart(market, rice)
    assert (await client.delete(path, headers=market.as_buyer())).json()["data"]["items"] == []
    await put_in_cart(market, rice)
    assert (await client.delete("/api/carts/current", headers=market.as_buyer())).json()["data"]["items"] == []


async def test_a_full_cart_accepts_no_further_product_and_still_changes_its_own(market: Market) -> None:
    rows = [(market.buyer_id, new_id(), market.vendor_id, "thing", 1, 1, market.clock.now()) for _ in range(99)]
    for row in rows:
        await market.fetch("INSERT INTO cart_items VALUES ($1, $2, $3, $4, $5, $6, $7)", *row)
    rice, stew = await market.sell(), await market.sell()
    assert (await put_in_cart(market, rice)).status_code == 200
    assert (await put_in_cart(market, stew)).status_code == 409
    assert (await put_in_cart(market, rice, 4)).status_code == 200
    assert len((await cart(market))["items"]) == 100


async def test_no_user_sees_or_writes_another_s_cart(market: Market) -> None:
    rice = await market.sell()
    await put_in_cart(market, rice)
    outsider = new_id()
    assert (await cart(market, outsider))["items"] == []
    assert error_of(await check_out(market, {"cartId": (await cart(market))["id"]}, buyer_id=outsider)) == NOT_FOUND
    thief = Caller(user_id=outsider, permissions=permissions_of(["buyer"]))
    async with market.unit_of_work(thief) as uow:
        assert await uow.fetch("SELECT * FROM cart_items") == []
        assert await uow.execute("UPDATE cart_items SET quantity = 99") == 0
        assert await uow.execute("DELETE FROM cart_items") == 0


async def test_checkout_removes_only_the_vendor_s_lines_from_the_cart(market: Market) -> None:
    other_vendor = new_id()
    rice, stew = await market.sell(price_minor=1_000), await market.sell(price_minor=500)
    phone = await market.sell(price_minor=9_000, vendor_id=other_vendor)
    for product_id in (rice, stew, phone):
        await put_in_cart(market, product_id, 2)
    cart_id = (await cart(market))["id"]

    assert invalid_field_of(await check_out(market, {"cartId": cart_id})) == (422, "vendorId")
    absent = await check_out(market, {"cartId": cart_id, "vendorId": str(new_id())})
    assert invalid_field_of(absent) == (422, "vendorId")
    moved = await check_out(market, {"cartId": cart_id, "vendorId": str(market.vendor_id), "expectedTotalMinor": 1})
    assert moved.status_code == 409
    assert len((await cart(market))["items"]) == 3

    body, key = {"cartId": cart_id, "vendorId": str(market.vendor_id)}, uuid4()
    order = data_of(await check_out(market, body, key), 201)
    assert (order["totalMinor"], [item["productId"] for item in order["items"]]) == (3_000, [str(rice), str(stew)])
    assert [item["productId"] for item in (await cart(market))["items"]] == [str(phone)]
    again = await check_out(market, body, key)
    assert (again.status_code, again.json()["data"]["id"]) == (201, order["id"])
    assert invalid_field_of(await check_out(market, {"cartId": cart_id}, key)) == (422, "Idempotency-Key")
    rest = await check_out(market, {"cartId": cart_id})
    assert (rest.status_code, rest.json()["data"]["vendorId"]) == (201, str(other_vendor))
    assert invalid_field_of(await check_out(market, {"cartId": cart_id})) == (422, "cartId")


async def test_items_and_cart_exclude_each_other(market: Market) -> None:
    rice = await market.sell()
    line = [{"productId": str(rice), "quantity": 1}]
    for body in ({}, {"items": line, "cartId": str(uuid4())}, {"items": line, "vendorId": str(market.vendor_id)}):
        assert (await check_out(market, body)).status_code == 422
    assert await market.stock_of(rice) == 10


async def test_of_ten_checkouts_of_one_cart_at_once_one_places_the_order(market: Market) -> None:
    rice = await market.sell(stock=50)
    await put_in_cart(market, rice, 3)
    body = {"cartId": (await cart(market))["id"]}
    responses = await asyncio.gather(*(check_out(market, body) for _ in range(10)))
    assert sorted(response.status_code for response in responses) == [201] + [422] * 9
    assert await market.stock_of(rice) == 47

    await put_in_cart(market, rice, 3)
    key = uuid4()
    responses = await asyncio.gather(*(check_out(market, body, key) for _ in range(10)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    assert await market.stock_of(rice) == 44


async def test_a_line_of_an_abandoned_cart_is_removed_after_180_days(market: Market) -> None:
    old, new = await market.sell(), await market.sell(name="Stew")
    await put_in_cart(market, old)
    # A line of a product with variants, of the same instant.
    await market.fetch(
        "INSERT INTO cart_variants SELECT buyer_id, product_id, product_id, vendor_id, name, price_seen_minor, "
        "quantity, added_at FROM cart_items RETURNING product_id"
    )
    market.clock.advance(KEPT - timedelta(seconds=1))
    await put_in_cart(market, new)
    await market.app.remove_old()
    assert [len(await market.fetch(f"SELECT FROM {table}")) for table in ("cart_items", "cart_variants")] == [2, 1]
    market.clock.advance(timedelta(seconds=2))
    await market.app.remove_old()
    assert await market.fetch("SELECT product_id FROM cart_variants") == []
    assert [item["productId"] for item in (await cart(market))["items"]] == [str(new)]
