"""Merchants' catalog operations: every rejection, concurrent writers, and the row policies."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of

from .conftest import Market
from .steps import approve_vendor

SUYA = {
    "name": "Beef Suya",
    "description": "With yaji and onions.",
    "category": "Snacks",
    "priceMinor": 100_000,
    "stock": 7,
}


@pytest.fixture
async def shop(market: Market):
    """Return the market, whose vendor was approved."""
    await approve_vendor(market)
    return market


async def offer(market: Market, headers=None, **fields):
    headers = headers or market.as_merchant()
    return data_of(await market.client.post("/api/products", json={**SUYA, **fields}, headers=headers), 201)


async def change(market: Market, product, headers=None, if_match=None, **fields):
    headers = {**(headers or market.as_merchant()), **({} if if_match is None else {"If-Match": if_match})}
    return await market.client.patch(f"/api/products/{product['id']}", json=fields, headers=headers)


async def rows(market: Market):
    return await market.fetch(
        "SELECT id, name, price_minor, stock, draft, removed_at, revision, images FROM products ORDER BY id"
    )


async def events(market: Market):
    return [
        (event["priceMinor"], event["inStock"], event["removed"])
        for event in await market.published("orders.product_changed.v1")
    ]


async def test_a_new_product_is_listed_and_published(shop) -> None:
    product = await offer(shop)
    assert product["category"] == "snacks"
    assert (product["vendorName"], product["campusId"]) == ("Ada's Kitchen", str(shop.campus_id))
    assert (product["status"], product["revision"], product["images"]) == ("published", 1, [])
    shown = (await shop.client.get(f"/api/products/{product['id']}")).json()["data"]
    assert shown == {
        name: value
        for name, value in product.items()
        if name not in ("status", "updatedAt", "hiddenBecause", "lowStock")
    }
    assert await events(shop) == [(100_000, True, False)]


async def test_a_draft_is_visible_to_its_merchant_only_and_not_published(shop) -> None:
    draft = await offer(shop, status="draft")
    url = f"/api/products/{draft['id']}"
    get = shop.client.get
    assert (await get(url)).status_code == 404
    assert (await get(url, headers=shop.as_merchant(new_id()))).status_code == 404
    assert (await get(url, headers=shop.as_merchant())).json()["data"]["status"] == "draft"
    assert (await get("/api/products")).json()["data"] == []
    assert (await shop.checkout(UUID(draft["id"]), buyer_id=shop.merchant_id)).status_code == 422
    own_basket = await shop.client.post(
        "/api/orders/checkout",
        json={"items": [{"productId": draft["id"], "quantity": 1}]},
        headers=shop.as_merchant(idempotency_key=uuid4()),
    )
    assert own_basket.status_code == 422
    await change(shop, draft, priceMinor=5)
    assert await events(shop) == []
    await change(shop, draft, status="published")
    assert await events(shop) == [(5, True, False)]
    await change(shop, draft, status="draft")
    assert await events(shop) == [(5, True, False), (5, True, True)]


async def test_a_patch_changes_what_it_names_and_a_put_all_of_it(shop) -> None:
    product = await offer(shop)
    patched = (await change(shop, product, priceMinor=120_000)).json()["data"]
    assert patched == {**product, "priceMinor": 120_000, "revision": 2}
    whole = {**SUYA, "name": "Goat Suya", "stock": 0, "revision": 2}
    url = f"/api/products/{product['id']}"
    put = await shop.client.put(url, json=whole, headers=shop.as_merchant())
    assert put.status_code == 200
    assert {**put.json()["data"], **whole, "category": "snacks"} == put.json()["data"] | {"revision": 2}
    assert put.json()["data"]["revision"] == 3
    assert await events(shop) == [(100_000, True, False), (120_000, True, False), (100_000, False, False)]
    assert (await shop.client.put(url, json={"name": "x"}, headers=shop.as_merchant())).status_code == 422


async def test_unchanged_values_change_and_publish_nothing(shop) -> None:
    product = await offer(shop)
    again = await change(shop, product, priceMinor=100_000, stock=7, category=" SNACKS ")
    assert again.json()["data"] == product
    assert len(await events(shop)) == 1


async def test_a_stale_revision_is_refused_wherever_it_is_named(shop) -> None:
    product = await offer(shop)
    tag = (await shop.client.get(f"/api/products/{product['id']}")).headers["etag"]
    assert (await change(shop, product, stock=6, revision=1)).status_code == 200
    before = await rows(shop)
    url, headers = f"/api/products/{product['id']}", shop.as_merchant()
    for response in (
        await change(shop, product, stock=5, revision=1),
        await change(shop, product, stock=5, if_match='"1"'),
        await change(shop, product, stock=5, if_match=tag),
        await shop.client.put(url, json={**SUYA, "revision": 1}, headers=headers),
        await shop.client.delete(url, headers={**headers, "If-Match": '"1"'}),
    ):
        assert error_of(response) == CONFLICT
    for bad in ("x", '"1', '"1", "2"', '"' + "9" * 30 + '"'):
        response = await change(shop, product, stock=5, if_match=bad)
        assert response.status_code == (409 if bad == '"1' else 422), bad
    assert (await change(shop, product, stock=5, if_match='"2"', revision=1)).status_code == 422
    assert await rows(shop) == before
    assert (await change(shop, product, stock=5, if_match='"2"')).status_code == 200


async def test_of_two_writers_at_the_same_revision_one_is_refused(shop) -> None:
    product = await offer(shop)
    responses = await asyncio.gather(*(change(shop, product, stock=number, revision=1) for number in range(20, 28)))
    statuses = sorted(response.status_code for response in responses)
    assert statuses == [200] + [409] * 7
    (row,) = await rows(shop)
    assert row["revision"] == 2
    winner = next(response for response in responses if response.status_code == 200)
    assert winner.json()["data"]["stock"] == row["stock"]


async def test_a_count_of_the_inventory_never_undoes_a_sale(shop) -> None:
    product = await offer(shop)
    order = await shop.ordered(UUID(product["id"]), 2)
    assert (await change(shop, product, stock=17, revision=1)).status_code == 409
    assert await shop.stock_of(UUID(product["id"])) == 5
    assert order["totalMinor"] == 200_000
    read = (await shop.client.get(f"/api/products/{product['id']}")).json()["data"]
    assert (await change(shop, product, stock=15, revision=read["revision"])).status_code == 200


async def test_a_price_change_during_a_checkout_rejects_it(shop) -> None:
    product = await offer(shop)
    await change(shop, product, priceMinor=200_000)
    refused = await shop.checkout(UUID(product["id"]), expectedTotalMinor=100_000)
    assert (refused.status_code, refused.json()["totalMinor"]) == (409, 200_000)
    async with shop.database.unit_of_work(
        acting_as=Caller(user_id=shop.buyer_id, permissions=permissions_of(["buyer"]))
    ) as uow:
        reserved = await uow.fetch("SELECT * FROM reserve_stock($1, $2, $3)", [UUID(product["id"])], [1], [100_000])
    assert reserved == []
    assert await shop.stock_of(UUID(product["id"])) == 7


async def test_what_was_removed_stays_removed_and_removing_it_again_is_no_error(shop) -> None:
    product = await offer(shop)
    url, headers = f"/api/products/{product['id']}", shop.as_merchant()
    for _ in range(2):
        response = await shop.client.delete(url, headers=headers)
        assert (response.status_code, response.content) == (204, b"")
    assert await events(shop) == [(100_000, True, False), (100_000, True, True)]
    assert (await shop.client.get(url, headers=headers)).status_code == 404
    assert (await change(shop, product, stock=1)).status_code == 409
    mine = await shop.client.get("/api/products/mine", params={"status": "removed"}, headers=headers)
    assert [(one["id"], one["status"]) for one in mine.json()["data"]] == [(product["id"], "removed")]


async def test_own_products_are_found_by_a_part_of_the_name_and_by_low_stock(shop) -> None:
    few = await offer(shop, name="Puff puff 100%", stock=5)
    many = await offer(shop, name="Chin chin", stock=6)

    async def found(**query):
        response = await shop.client.get("/api/products/mine", params=query, headers=shop.as_merchant())
        return [(one["id"], one["lowStock"]) for one in response.json()["data"]]

    assert await found(q="PUFF") == await found(lowStock="true") == await found(q="100%") == [(few["id"], True)]
    assert await found(lowStock="false") == await found(q="n c") == [(many["id"], False)]
    assert await found(q="100_") == await found(q="puff", lowStock="false") == []


async def test_who_may_not_write_changes_nothing(shop) -> None:
    product = await offer(shop)
    hidden = await offer(shop, status="draft")
    url, before = f"/api/products/{product['id']}", await rows(shop)
    other = shop.as_merchant(new_id())
    client = shop.client
    for headers, status, code in (
        ({}, 401, "AUTH_UNAUTHORIZED"),
        (shop.as_buyer(), 403, "AUTH_FORBIDDEN"),
        (shop.as_staff("auditor"), 403, "AUTH_FORBIDDEN"),
        (other, 403, "AUTH_FORBIDDEN"),
    ):
        for response in (
            await client.patch(url, json={"stock": 1}, headers=headers),
            await client.put(url, json=SUYA, headers=headers),
            await client.delete(url, headers=headers),
            await client.delete(f"{url}/images/{new_id()}", headers=headers),
        ):
            assert error_of(response) == (status, code)
    for product_id in (hidden["id"], new_id()):
        assert error_of(await change(shop, {"id": product_id}, headers=other, stock=1)) == NOT_FOUND
    vendorless = shop.headers(shop.merchant_id, roles=("merchant",))
    for response in (
        await client.post("/api/products", json=SUYA, headers=vendorless),
        await client.get("/api/products/mine", headers=vendorless),
        await client.patch(url, json={"stock": 1}, headers=vendorless),
    ):
        assert error_of(response) == FORBIDDEN
    unheard = await client.post("/api/products", json=SUYA, headers=other)
    assert (unheard.status_code, "being set up" in unheard.json()["detail"]) == (409, True)
    assert await rows(shop) == before


BAD_FIELDS = [
    ("name", ""),
    ("name", "   "),
    ("name", "x" * 121),
    ("name", "a\x00b"),
    ("name", "Rice\r\nBeans"),
    ("name", "Rice \u202esnaeB"),
    ("name", "\u3164\u200b"),
    ("name", None),
    ("description", "x" * 5_001),
    ("category", " "),
    ("category", "x" * 61),
    ("priceMinor", 0),
    ("priceMinor", -5),
    ("priceMinor", 1_000_000_001),
    ("priceMinor", 10.5),
    ("priceMinor", "100"),
    ("priceMinor", True),
    ("stock", -1),
    ("stock", 1_000_001),
    ("status", "removed"),
    ("vendorId", str(uuid4())),
    ("ratingCount", 5),
]


async def test_a_bad_field_is_422_and_named_in_each_way_of_writing(shop) -> None:
    product = await offer(shop)
    before = await rows(shop)
    client, headers, url = shop.client, shop.as_merchant(), f"/api/products/{product['id']}"
    for field, value in BAD_FIELDS:
        for response in (
            await client.post("/api/products", json={**SUYA, field: value}, headers=headers),
            await client.put(url, json={**SUYA, field: value}, headers=headers),
            await client.patch(url, json={field: value}, headers=headers),
        ):
            assert response.status_code == 422, (field, response.text)
            assert response.json()["invalid_params"][0]["name"] in (field, "body")
    assert await rows(shop) == before


async def test_a_write_that_fails_before_its_commit_changes_nothing(shop) -> None:
    product = await offer(shop)
    before = await rows(shop)
    async with shop.crashing():
        for response in (
            await shop.client.post("/api/products", json=SUYA, headers=shop.as_merchant()),
            await change(shop, product, stock=1),
            await shop.client.delete(f"/api/products/{product['id']}", headers=shop.as_merchant()),
        ):
            assert response.status_code == 500
    assert await rows(shop) == before
    assert len(await events(shop)) == 1


async def test_the_own_list_walks_over_everything_while_products_come(shop) -> None:
    existing = set()
    for number in range(7):
        shop.clock.advance(timedelta(seconds=number % 2))
        existing.add((await offer(shop, status="draft" if number % 3 == 0 else "published"))["id"])
    await shop.sell(vendor_id=new_id())
    walked, cursor = [], None
    while True:
        query = {"limit": 2} | ({} if cursor is None else {"cursor": cursor})
        response = await shop.client.get("/api/products/mine", params=query, headers=shop.as_merchant())
        walked += [product["id"] for product in response.json()["data"]]
        cursor = response.json()["meta"]["next_cursor"]
        if cursor is None:
            break
        shop.clock.advance(timedelta(seconds=1))
        await offer(shop)
    assert len(walked) == len(set(walked))
    assert set(walked) == existing
    drafts = await shop.client.get("/api/products/mine", params={"status": "draft"}, headers=shop.as_merchant())
    assert {product["status"] for product in drafts.json()["data"]} == {"draft"}


async def test_categories_are_one_name_however_they_are_typed(shop) -> None:
    for category in ("Meals", "meals ", "  MEALS"):
        await offer(shop, category=category)
    await offer(shop, category="Phone  accessories")
    await offer(shop, category="hidden", status="draft")
    shown = (await shop.client.get("/api/categories")).json()["data"]
    assert shown == [{"category": "meals", "products": 3}, {"category": "phone accessories", "products": 1}]
    found = await shop.client.get("/api/products", params={"category": "PHONE accessories"})
    assert len(found.json()["data"]) == 1


async def test_row_security_holds_when_a_write_forgets_whose_it_is(shop) -> None:
    own, draft = await offer(shop), await offer(shop, status="draft")
    database = shop.database
    merchant, outsider = permissions_of(["merchant"]), new_id()
    everything = "UPDATE products SET stock = 0"
    for caller, touched in (
        (Caller(), 0),
        (Caller(user_id=shop.buyer_id, permissions=permissions_of(["buyer"])), 0),
        (Caller(user_id=outsider, vendor_id=outsider, permissions=merchant), 0),
        (Caller(user_id=outsider, vendor_id=shop.vendor_id), 0),
        (Caller(user_id=shop.merchant_id, vendor_id=shop.vendor_id, permissions=merchant), 2),
    ):
        async with database.unit_of_work(acting_as=caller) as uow:
            assert await uow.execute(everything) == touched
            seen = {row["id"] for row in await uow.fetch("SELECT id FROM products")}
            assert (UUID(draft["id"]) in seen) == (caller.vendor_id == shop.vendor_id)
            assert UUID(own["id"]) in seen
    foreign = Caller(user_id=outsider, vendor_id=outsider, permissions=merchant)
    insert = (
        "INSERT INTO products (id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, "
        "created_at, updated_at) VALUES ($1, $2, '', $2, '', '', '', 1, 1, now(), now())"
    )
    own_caller = Caller(user_id=shop.merchant_id, vendor_id=shop.vendor_id, permissions=merchant)
    for caller, statement, values in (
        (foreign, insert, (new_id(), shop.vendor_id)),
        (Caller(vendor_id=shop.vendor_id), insert, (new_id(), shop.vendor_id)),
        (own_caller, "UPDATE products SET rating_sum = 5, rating_count = 1", ()),
        (own_caller, "UPDATE products SET vendor_id = $1", (outsider,)),
        (own_caller, "DELETE FROM products", ()),
        (foreign, "UPDATE search_words SET word = ''", ()),
        (Caller(user_id=outsider), "INSERT INTO search_words (word) VALUES ('word')", ()),
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=caller) as uow:
                await uow.execute(statement, *values)
