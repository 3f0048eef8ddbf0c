"""Carts, checkouts, flash sales, returns and sales of products with variants."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest_asyncio

from common.primitives.ids import new_id
from testkit.responses import CONFLICT, INVALID, data_of, error_of, invalid_field_of

from .conftest import Market
from .steps import (
    approve_vendor,
    create_sale,
    created_sale,
    decide_return,
    put_in_cart,
    requested_return,
    state_escrow,
)
from .variant_steps import COLOURS, Shirts, item, variant


@pytest_asyncio.fixture(loop_scope="session")
async def shirts(market: Market) -> AsyncIterator[Shirts]:
    await approve_vendor(market)
    yield Shirts(market)


async def order(
    market: Market, *items: dict[str, Any], kind: str = "orders/checkout", buyer_id: UUID | None = None
) -> httpx.Response:
    headers = market.as_buyer(buyer_id, idempotency_key=uuid4())
    return await market.client.post(f"/api/{kind}", json={"items": items}, headers=headers)


async def stocks(shirts: Shirts, product: dict[str, Any]) -> tuple[int, ...]:
    """Return the stock of the product, then that of its variants."""
    shown = await shirts.read(product)
    return (shown["stock"], *(each["stock"] for each in shown["variants"]))


async def test_an_order_reserves_its_variants_at_their_prices(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    placed = data_of(await order(market, item(product, red, 2), item(product, blue)), 201)
    assert placed["subtotalMinor"] == 2 * 1_500 + 1_000
    assert [(line["variantId"], line["name"], line["unitPriceMinor"]) for line in placed["items"]] == [
        (red, "Shirt (Red, M)", 1_500),
        (blue, "Shirt (Blue, M)", 1_000),
    ]
    assert (await market.show(placed))["items"] == placed["items"]
    assert await stocks(shirts, product) == (2, 1, 1)
    [event] = await market.published("orders.order_placed.v1")
    assert [line["variantId"] for line in event["items"]] == [red, blue]


async def test_an_order_without_the_variant_is_422_and_names_it(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    rice = await market.sell()
    for kind in ("orders/checkout", "purchases"):
        response = await order(market, {"productId": str(rice), "quantity": 1}, item(product), kind=kind)
        assert invalid_field_of(response) == (422, "items.1.variantId")
    assert await stocks(shirts, product) == (5, 3, 2)


async def test_an_unknown_or_inactive_variant_is_rejected_as_an_unknown_product_is(shirts: Shirts) -> None:
    market, product, other = shirts.market, await shirts.create(), await shirts.create()
    red, blue = product["variants"]
    data_of(
        await shirts.replace(
            product, COLOURS, [variant("Red", id=red["id"], active=False), variant("Blue", id=blue["id"])]
        )
    )
    rice = {"id": str(await market.sell())}
    for line in (
        item(product, str(new_id())),
        item(product, red["id"]),
        item(product, other["variants"][0]["id"]),
        item(rice, blue["id"]),
    ):
        assert invalid_field_of(await order(market, line)) == (422, "items.0.variantId")
        response = await order(market, line, kind="purchases")
        assert (error_of(response), invalid_field_of(response)[1]) == (CONFLICT, "items.0.variantId")


async def test_a_variant_is_ordered_once_in_a_checkout_and_within_its_own_stock(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    assert error_of(await order(market, item(product, red), item(product, red))) == INVALID
    # The product has five, the variant two.
    response = await order(market, item(product, red), item(product, blue, 3))
    assert (error_of(response), invalid_field_of(response)[1]) == (CONFLICT, "items.1.quantity")
    assert await stocks(shirts, product) == (5, 3, 2)


async def test_the_last_shirts_of_a_color_are_sold_once(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    buyers = [order(market, item(product, blue), item(product, red), buyer_id=new_id()) for _ in range(8)]
    statuses = sorted(response.status_code for response in await asyncio.gather(*buyers))
    assert statuses == [201] * 2 + [409] * 6
    assert await stocks(shirts, product) == (1, 1, 0)


async def test_checkouts_and_replacements_at_once_end_with_one_sum(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    # Each replacement leaves the blue ones out or sends them anew: an order of one may find it deleted.
    sets = [[variant("Red", id=red, stock=9)], [variant("Red", id=red, stock=9), variant("Blue", stock=9)]]
    calls = [
        *(order(market, item(product, blue), item(product, red), buyer_id=new_id()) for _ in range(6)),
        *(shirts.replace(product, COLOURS, sets[number % 2]) for number in range(4)),
    ]
    statuses = {response.status_code for response in await asyncio.gather(*calls)}
    assert statuses <= {200, 201, 409, 422}
    shown = await shirts.read(product)
    assert shown["stock"] == sum(each["stock"] for each in shown["variants"] if each["active"])


async def test_units_return_to_their_variant_when_the_order_is_cancelled(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    placed = data_of(await order(market, item(product, red, 3), item(product, blue)), 201)
    other = data_of(await order(market, item(product, blue)), 201)
    assert await stocks(shirts, product) == (0, 0, 0)
    assert (await market.post(placed, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    assert await stocks(shirts, product) == (4, 3, 1)
    assert (await market.post(other, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    assert await stocks(shirts, product) == (5, 3, 2)
    sold_out = [event["inStock"] for event in await market.published("orders.product_changed.v1")]
    assert sold_out == [True, False, True]


async def test_a_late_charge_reserves_the_variant_again_or_is_refunded(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    blue = product["variants"][1]["id"]
    pair, single = [], []
    for placed, quantity in ((pair, 2), (single, 1)):
        placed.append(data_of(await order(market, item(product, blue, quantity)), 201))
        assert (await market.post(placed[0], "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    await market.pay(pair[0])
    assert (await market.status_of(pair[0]), await stocks(shirts, product)) == ("paid_escrow", (3, 3, 0))
    await market.pay(single[0])
    assert (await market.status_of(single[0]), await stocks(shirts, product)) == ("refund_pending", (3, 3, 0))


async def test_a_variant_with_orders_is_deactivated_and_never_deleted(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    placed = data_of(await order(market, item(product, red)), 201)
    after = data_of(await shirts.replace(product, COLOURS, [variant("Red")]))
    [new, old] = after["variants"]
    assert (new["active"], old["id"], old["active"]) == (True, red, False)
    assert blue not in (new["id"], old["id"])
    assert (after["stock"], old["stock"]) == (2, 2)
    # Its units return to it, and are not for sale.
    assert (await market.post(placed, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    assert await stocks(shirts, product) == (2, 2, 3)
    # It may be listed again.
    back = data_of(await shirts.replace(product, COLOURS, [variant("Red", id=red, stock=1)]))
    assert [(each["id"], each["active"]) for each in back["variants"]] == [(red, True)]


async def test_units_of_a_variant_return_to_a_product_that_has_none_any_more(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    placed = data_of(await order(market, item(product, product["variants"][0]["id"], 3)), 201)
    assert data_of(await shirts.replace(product, [], []))["stock"] == 2
    assert (await market.post(placed, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    assert (await shirts.read(product))["stock"] == 5


async def test_units_ordered_before_the_variants_return_to_none_of_them(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    plain = data_of(await shirts.replace(product, [], []))
    placed = data_of(await order(market, item(plain, quantity=2)), 201)
    data_of(await shirts.replace(product, COLOURS, [variant("Red", stock=4)]))
    assert (await market.post(placed, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    assert await stocks(shirts, product) == (4, 4)
    await market.pay(placed)
    assert (await market.status_of(placed), await stocks(shirts, product)) == ("refund_pending", (4, 4))


async def test_a_cart_has_a_line_for_each_variant(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    assert invalid_field_of(await put_in_cart(market, product["id"])) == (422, "variantId")
    assert invalid_field_of(await put_in_cart(market, product["id"], variantId=str(new_id()))) == (422, "variantId")
    rice = await market.sell(price_minor=10)
    assert invalid_field_of(await put_in_cart(market, rice, variantId=red)) == (422, "variantId")
    for variant_id, quantity in ((red, 1), (blue, 2), (red, 3)):
        cart = data_of(await put_in_cart(market, product["id"], quantity, variantId=variant_id))
    cart = data_of(await put_in_cart(market, rice))
    lines = {line["variantId"]: line for line in cart["items"]}
    assert {key: (line["name"], line["quantity"], line["unitPriceMinor"]) for key, line in lines.items()} == {
        red: ("Shirt (Red, M)", 3, 1_500),
        blue: ("Shirt (Blue, M)", 2, 1_000),
        None: ("Jollof Rice", 1, 10),
    }
    assert cart["totalMinor"] == 3 * 1_500 + 2 * 1_000 + 10
    path, headers = f"/api/carts/current/items/{product['id']}", market.as_buyer()
    cart = data_of(await market.client.delete(path, params={"variantId": red}, headers=headers))
    assert {line["variantId"] for line in cart["items"]} == {blue, None}
    cart = data_of(await market.client.delete(path, headers=headers))
    assert [line["productId"] for line in cart["items"]] == [str(rice)]
    data_of(await put_in_cart(market, product["id"], variantId=red))
    assert data_of(await market.client.delete("/api/carts/current", headers=headers))["items"] == []


async def test_a_cart_shows_an_inactive_variant_and_a_missing_choice_as_unavailable(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    data_of(await put_in_cart(market, product["id"], variantId=red))
    plain = await shirts.create()
    data_of(await shirts.replace(plain, [], []))
    data_of(await put_in_cart(market, plain["id"]))
    data_of(await shirts.replace(product, COLOURS, [variant("Blue", id=blue)]))
    data_of(await shirts.replace(plain, COLOURS, [variant("Red")]))
    cart = data_of(await market.client.get("/api/carts/current", headers=market.as_buyer()))
    assert {(line["variantId"], line["inStock"], line["available"]) for line in cart["items"]} == {
        (red, False, 0),
        (None, False, 0),
    }


async def test_a_cart_with_variants_is_checked_out_as_order_and_as_purchase(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    for kind in ("orders/checkout", "purchases"):
        for variant_id in (red, blue):
            cart = data_of(await put_in_cart(market, product["id"], variantId=variant_id))
        headers = market.as_buyer(idempotency_key=uuid4())
        placed = data_of(await market.client.post(f"/api/{kind}", json={"cartId": cart["id"]}, headers=headers), 201)
        [placed] = placed.get("orders", [placed])
        assert {line["variantId"] for line in placed["items"]} == {red, blue}
    assert await stocks(shirts, product) == (1, 1, 0)
    assert data_of(await market.client.get("/api/carts/current", headers=market.as_buyer()))["items"] == []


async def test_a_full_cart_counts_variants_too(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    for _ in range(98):
        row = (market.buyer_id, new_id(), market.vendor_id, "thing", 1, 1, market.clock.now())
        await market.fetch("INSERT INTO cart_items VALUES ($1, $2, $3, $4, $5, $6, $7)", *row)
    assert (await put_in_cart(market, product["id"], variantId=red)).status_code == 200
    assert (await put_in_cart(market, await market.sell())).status_code == 200
    for response in (
        await put_in_cart(market, product["id"], variantId=blue),
        await put_in_cart(market, await market.sell()),
    ):
        assert error_of(response) == CONFLICT
    assert (await put_in_cart(market, product["id"], 2, variantId=red)).status_code == 200


async def test_a_flash_sale_is_of_one_variant(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    terms = {"quantity": 3, "perBuyerLimit": 2, "priceMinor": 1_200}
    product_id = UUID(product["id"])
    assert invalid_field_of(await create_sale(market, product_id, **terms)) == (422, "variantId")
    assert invalid_field_of(await create_sale(market, product_id, **terms, variantId=str(new_id()))) == (
        422,
        "variantId",
    )
    assert invalid_field_of(await create_sale(market, product_id, **terms, variantId=blue)) == (422, "priceMinor")
    sale = await created_sale(market, product_id, **terms, variantId=red)
    assert (sale["variantId"], sale["productName"], sale["regularPriceMinor"]) == (red, "Shirt (Red, M)", 1_500)
    assert error_of(await create_sale(market, product_id, **terms, variantId=red)) == CONFLICT
    other = await created_sale(market, product_id, variantId=blue, priceMinor=900, quantity=1, perBuyerLimit=1)
    shown = await shirts.read(product)
    assert shown["flashSale"]["id"] == other["id"]
    assert [each["flashSale"]["priceMinor"] for each in shown["variants"]] == [1_200, 900]
    cart = data_of(await put_in_cart(market, product["id"], variantId=red))
    assert [line["unitPriceMinor"] for line in cart["items"]] == [1_200]
    placed = data_of(await order(market, item(product, red, 2), item(product, blue)), 201)
    assert [line["unitPriceMinor"] for line in placed["items"]] == [1_200, 900]
    for sale_id, remaining in ((sale["id"], 1), (other["id"], 0)):
        assert data_of(await market.client.get(f"/api/flash-sales/{sale_id}"))["remaining"] == remaining
    assert (await market.post(placed, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    await market.pay(placed)
    assert await market.status_of(placed) == "paid_escrow"
    assert data_of(await market.client.get(f"/api/flash-sales/{sale['id']}"))["remaining"] == 1


async def test_a_variant_with_a_flash_sale_is_kept(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    sale = await created_sale(market, UUID(product["id"]), variantId=red, priceMinor=1_200, quantity=1, perBuyerLimit=1)
    after = data_of(await shirts.replace(product, COLOURS, [variant("Blue", id=blue)]))
    assert [(each["id"], each["active"]) for each in after["variants"]] == [(blue, True), (red, False)]
    assert data_of(await market.client.get(f"/api/flash-sales/{sale['id']}"))["variantId"] == red
    # The sale of a product without variants ends with the variants.
    plain = data_of(await shirts.replace(product, [], []))
    assert plain["flashSale"] is None


async def test_a_return_names_the_variant(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    placed = data_of(await order(market, item(product, red, 2), item(product, blue)), 201)
    await market.pay(placed)
    data_of(await market.verify(placed, await market.pin_of(placed), headers=market.as_merchant()))
    request = await requested_return(market, placed, 1, 1)
    assert [(line["variantId"], line["name"]) for line in request["items"]] == [
        (red, "Shirt (Red, M)"),
        (blue, "Shirt (Blue, M)"),
    ]
    refund = data_of(await decide_return(market, request))
    assert refund["refundMinor"] == 1_500 + 1_000


async def test_sales_are_grouped_by_product_and_by_variant(shirts: Shirts) -> None:
    market, product = shirts.market, await shirts.create()
    red, blue = (each["id"] for each in product["variants"])
    rice = await market.sell(price_minor=10)
    for items in ([item(product, red, 2), item(product, blue)], [item(product, blue), item({"id": str(rice)})]):
        placed = data_of(await order(market, *items), 201)
        await market.pay(placed)
        await state_escrow(market, placed, locked=placed["totalMinor"])

    async def groups(by: str) -> set[tuple[str, str, int, int]]:
        path, query = f"/api/vendors/{market.vendor_id}/sales", {"groupBy": by}
        rows = data_of(await market.client.get(path, params=query, headers=market.as_merchant()))
        return {(row["key"], row["label"], row["units"], row["grossMinor"]) for row in rows}

    assert await groups("product") == {(product["id"], "Shirt", 4, 5_000), (str(rice), "Jollof Rice", 1, 10)}
    assert await groups("variant") == {
        (red, "Shirt (Red, M)", 2, 3_000),
        (blue, "Shirt (Blue, M)", 2, 2_000),
        (str(rice), "Jollof Rice", 1, 10),
    }


async def test_an_order_of_variants_changes_no_other_row(shirts: Shirts) -> None:
    market, product, other = shirts.market, await shirts.create(), await shirts.create()
    data_of(await put_in_cart(market, other["id"], variantId=other["variants"][0]["id"]))
    before = [
        await market.fetch("SELECT * FROM product_variants WHERE product_id = $1 ORDER BY id", UUID(other["id"])),
        await market.fetch("SELECT * FROM cart_variants"),
        await market.fetch("SELECT * FROM products WHERE id = $1", UUID(other["id"])),
    ]
    placed = data_of(await order(market, item(product, product["variants"][0]["id"], 3)), 201)
    assert (await market.post(placed, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    await market.pay(placed)
    data_of(await shirts.replace(product, COLOURS, [variant("Red")]))
    assert before == [
        await market.fetch("SELECT * FROM product_variants WHERE product_id = $1 ORDER BY id", UUID(other["id"])),
        await market.fetch("SELECT * FROM cart_variants"),
        await market.fetch("SELECT * FROM products WHERE id = $1", UUID(other["id"])),
    ]
