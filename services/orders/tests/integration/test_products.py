from datetime import timedelta

import pytest

from common.primitives.ids import new_id
from orders.demo import demo_products, load_demo_data
from orders.queries.products import SORTS
from orders.queries.search import Position, product_statement
from testkit.responses import NOT_FOUND, UNAUTHORIZED, data_of, error_of, invalid_field_of

from .conftest import Market


async def browse(market: Market, **query):
    return [product["id"] for product in data_of(await market.client.get("/api/products", params=query))]


async def test_a_product_is_shown_to_every_visitor_in_whole(market: Market) -> None:
    # No two numbers are alike: a row is read by the place of its columns.
    product = await market.sell(price_minor=150_000, stock=7, rating_sum=14, rating_count=3)
    response = await market.client.get(f"/api/products/{product}")
    assert response.status_code == 200
    assert response.json()["data"] == {
        "id": str(product),
        "vendorId": str(market.vendor_id),
        "vendorName": "Ada's Kitchen",
        "campusId": str(market.campus_id),
        "name": "Jollof Rice",
        "description": "Smoky",
        "category": "meals",
        "priceMinor": 150_000,
        "currency": "NGN",
        "stock": 7,
        "inStock": True,
        "images": [],
        "rating": 4.67,
        "ratingCount": 3,
        "flashSale": None,
        "vendorAway": None,
        "revision": 1,
        "createdAt": "2026-01-05T12:00:00.000Z",
        "condition": "new",
        "options": [],
        "variants": [],
    }
    listed = await market.client.get("/api/products")
    assert [each | {"variants": []} for each in listed.json()["data"]] == [response.json()["data"]]
    assert listed.json()["meta"]["has_more"] is False


async def test_times_have_milliseconds_whether_there_are_any_or_not(market: Market) -> None:
    for microseconds, shown in ((0, "000"), (7_000, "007"), (120_000, "120"), (999_999, "999")):
        product = await market.sell(created_at=market.clock.now().replace(microsecond=microseconds))
        response = await market.client.get(f"/api/products/{product}")
        assert response.json()["data"]["createdAt"] == f"2026-01-05T12:00:00.{shown}Z"


async def test_a_product_without_a_review_has_no_rating(market: Market) -> None:
    shown = (await market.client.get(f"/api/products/{await market.sell()}")).json()["data"]
    assert (shown["rating"], shown["ratingCount"]) == (None, 0)


async def test_what_was_removed_is_absent(market: Market) -> None:
    removed = await market.sell(removed_at=market.clock.now())
    assert await browse(market) == []
    for product in (removed, new_id()):
        assert error_of(await market.client.get(f"/api/products/{product}")) == NOT_FOUND


async def test_a_bad_token_is_refused_even_where_none_is_needed(market: Market) -> None:
    response = await market.client.get("/api/products", headers={"Authorization": "Bearer nonsense"})
    assert error_of(response) == UNAUTHORIZED
    assert (await market.client.get("/api/products", headers=market.as_buyer())).status_code == 200


async def test_each_filter_narrows_and_all_of_them_hold_together(market: Market) -> None:
    other_vendor, other_campus = new_id(), new_id()
    rice = await market.sell(price_minor=100, stock=5)
    fan = await market.sell(
        price_minor=300,
        stock=0,
        name="Rechargeable Fan",
        description="With light",
        category="power",
        vendor_id=other_vendor,
        campus_id=other_campus,
    )
    fans = [str(fan)]
    assert await browse(market, vendorId=other_vendor) == fans
    assert await browse(market, campusId=other_campus) == fans
    assert await browse(market, category="power") == fans
    assert await browse(market, minPriceMinor=101) == fans
    assert await browse(market, maxPriceMinor=299) == [str(rice)]
    assert await browse(market, inStock="false") == fans
    assert await browse(market, inStock="true") == [str(rice)]
    for text in ("fan", "FANS", "recharg light", "fa", "power", "'fan' & !:*"):
        assert await browse(market, q=text) == fans, text
    for text in ("fan rice", "xyz", "!!!", "'"):
        assert await browse(market, q=text) == [], text
    everything = {"q": "fan", "vendorId": other_vendor, "campusId": other_campus, "category": "power"}
    assert await browse(market, minPriceMinor=300, maxPriceMinor=300, inStock="false", **everything) == fans
    assert await browse(market, minPriceMinor=301, **everything) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vendorId", "x"),
        ("campusId", "12"),
        ("minPriceMinor", "-1"),
        ("minPriceMinor", "1.5"),
        ("maxPriceMinor", "999999999999999999999999"),
        ("inStock", "perhaps"),
        ("sort", "name"),
        ("q", ""),
        ("q", "x" * 201),
        ("q", "a\x00b"),
        ("category", "a\x00b"),
        ("cursor", "a\x00b"),
        ("cursor", "AAAA"),
    ],
)
async def test_a_bad_filter_is_422_and_named(market: Market, name: str, value) -> None:
    assert invalid_field_of(await market.client.get("/api/products", params={name: value})) == (422, name)


@pytest.mark.parametrize("sort", ["newest", "price_asc", "price_desc"])
async def test_a_walk_while_products_come_gives_each_exactly_once_in_its_order(market: Market, sort: str) -> None:
    existing = {}
    for number in range(23):
        if number % 3 == 0:
            market.clock.advance(timedelta(seconds=1))
        product = await market.sell(price_minor=100 + number % 4)
        existing[str(product)] = (market.clock.now(), 100 + number % 4)
    walked, cursor = [], None
    while True:
        query = {"limit": 5, "sort": sort} | ({} if cursor is None else {"cursor": cursor})
        response = (await market.client.get("/api/products", params=query)).json()
        walked += [product["id"] for product in response["data"]]
        cursor = response["meta"]["next_cursor"]
        if cursor is None:
            break
        market.clock.advance(timedelta(seconds=1))
        await market.sell(price_minor=101)
    seen = [product for product in walked if product in existing]
    assert len(walked) == len(set(walked))
    assert set(seen) == set(existing)
    keys = [existing[product][0 if sort == "newest" else 1] for product in seen]
    assert keys == sorted(keys, reverse=sort != "price_asc")


async def test_a_cursor_holds_for_its_list_its_filters_and_its_caller_only(market: Market) -> None:
    for _ in range(3):
        await market.sell()
    page = await market.client.get("/api/products", params={"limit": 1, "inStock": "true"})
    cursor = page.json()["meta"]["next_cursor"]
    get = market.client.get
    same = await get("/api/products", params={"limit": 2, "inStock": "true", "cursor": cursor})
    assert (same.status_code, len(same.json()["data"])) == (200, 2)
    for query, headers in (
        ({"cursor": cursor}, {}),
        ({"cursor": cursor, "inStock": "false"}, {}),
        ({"cursor": cursor, "inStock": "true", "sort": "price_asc"}, {}),
        ({"cursor": cursor, "inStock": "true"}, market.as_buyer()),
    ):
        assert invalid_field_of(await get("/api/products", params=query, headers=headers)) == (422, "cursor")


async def test_every_single_filter_reads_its_page_from_an_index(market: Market) -> None:
    """No sort and no scan of the table: the plan of each list's first page, as the API role gets it."""
    await market.fetch(
        """
        INSERT INTO products (
            id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
            rating_sum, rating_count, revision, created_at, updated_at
        )
        SELECT gen_random_uuid(), gen_random_uuid(), 'Vendor', gen_random_uuid(), 'Name ' || n, '',
            'category ' || n % 50, 1 + n % 1000, 'NGN', 1, '[]', 0, 0, 1, now() - make_interval(secs => n), now()
        FROM generate_series(1, 5000) AS n
        """
    )
    # Without it the plan depends on what the autovacuum has seen.
    await market.fetch_as_owner("ANALYZE products, vendors")
    newest, cheapest, dearest = SORTS["newest"], SORTS["price_asc"], SORTS["price_desc"]
    category = {"category": "category 7"}
    for filters, sort, after in (
        ({}, newest, None),
        ({}, cheapest, None),
        ({}, dearest, None),
        (category, newest, None),
        (category, cheapest, None),
        ({}, newest, Position(1, market.clock.now(), new_id())),
    ):
        statement, values = product_statement("id, name", filters, sort, 21, after, None)
        plan = "\n".join(row[0] for row in await market.database.fetch_public(f"EXPLAIN {statement}", *values))
        assert "on products" in plan, plan
        assert "Seq Scan on products" not in plan, plan
        assert "Sort" not in plan, plan


async def test_demo_data_is_inserted_and_published_once(market: Market) -> None:
    await load_demo_data(market.dependencies)
    products = demo_products()
    assert len(await market.published("orders.product_changed.v1")) == len(products)
    sold = products[0].level.product_id
    await market.ordered(sold)
    left = await market.stock_of(sold)
    await load_demo_data(market.dependencies)
    assert len(await market.published("orders.product_changed.v1")) == len(products)
    assert await market.stock_of(sold) == left
    assert len(await browse(market, limit=100)) == 100
    assert len(await browse(market, q="jolof rice")) == 3
