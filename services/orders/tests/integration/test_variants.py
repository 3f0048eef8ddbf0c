"""Variants of a product: valid sets, totals of the product, replacement, search."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest
import pytest_asyncio

from common.primitives.ids import new_id
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of

from .conftest import Market
from .steps import approve_vendor
from .variant_steps import COLOURS, SHIRT, Shirts, variant


@pytest_asyncio.fixture(loop_scope="session")
async def shirts(market: Market) -> AsyncIterator[Shirts]:
    await approve_vendor(market)
    yield Shirts(market)


def faults_of(response: httpx.Response) -> dict[str, str]:
    assert response.status_code == 422
    return {param["name"]: param["reason"] for param in response.json()["invalid_params"]}


async def test_a_product_is_created_and_read_with_its_variants(shirts: Shirts) -> None:
    product = await shirts.create()
    assert (product["priceMinor"], product["stock"], product["inStock"]) == (1_000, 5, True)
    assert product["options"] == COLOURS
    assert [
        (each["values"], each["sku"], each["priceMinor"], each["stock"], each["imageId"], each["active"])
        for each in product["variants"]
    ] == [
        ({"Colour": "Red", "Size": "M"}, "R-M", 1_500, 3, None, True),
        ({"Colour": "Blue", "Size": "M"}, None, 1_000, 2, None, True),
    ]
    assert (await shirts.read(product))["variants"] == product["variants"]
    listed = (await shirts.market.client.get("/api/products")).json()["data"]
    assert [(each["options"], "variants" in each) for each in listed] == [(COLOURS, False)]


async def test_a_product_without_variants_needs_a_price_and_a_stock(shirts: Shirts) -> None:
    for missing in ("priceMinor", "stock"):
        body = {"name": "Rice", "description": "", "category": "food", "priceMinor": 100, "stock": 1}
        del body[missing]
        assert faults_of(await shirts.post(body)) == {missing: "is required without variants"}


RED, BLUE = variant("Red"), variant("Blue")


@pytest.mark.parametrize(
    ("options", "variants", "field"),
    [
        ([], [RED], "options"),
        (COLOURS, [], "variants"),
        (COLOURS, [RED | {"active": False}], "variants"),
        ([*COLOURS, {"name": "colour", "values": ["x"]}], [RED], "options.2.name"),
        ([COLOURS[0], {"name": "Size", "values": ["M", "m"]}], [RED], "options.1.values"),
        (COLOURS, [RED, BLUE, RED], "variants.2.values"),
        (COLOURS, [RED | {"values": {"Colour": "Red"}}], "variants.0.values"),
        (COLOURS, [RED | {"values": {"Colour": "Red", "Size": "M", "Fit": "wide"}}], "variants.0.values"),
        (COLOURS, [variant("Green")], "variants.0.values"),
        (COLOURS, [RED | {"sku": "a"}, BLUE | {"sku": "a"}], "variants.1.sku"),
        (COLOURS, [RED | {"id": str(new_id())}], "variants.0.id"),
        (COLOURS, [RED | {"imageId": str(new_id())}], "variants.0.imageId"),
        ([{"name": name, "values": ["x"]} for name in "abcd"], [RED], "options"),
        (COLOURS, [RED] * 101, "variants"),
        (COLOURS, [RED | {"priceMinor": 0}], "variants.0.priceMinor"),
        (COLOURS, [RED | {"stock": -1}], "variants.0.stock"),
        (COLOURS, [RED | {"priceMinor": "100"}], "variants.0.priceMinor"),
    ],
)
async def test_an_invalid_set_of_variants_is_rejected_by_its_field(
    shirts: Shirts, options: list[Any], variants: list[Any], field: str
) -> None:
    product = await shirts.create()
    assert field in faults_of(await shirts.replace(product, options, variants))
    assert (await shirts.read(product))["variants"] == product["variants"]


async def test_a_hundred_variants_are_the_most(shirts: Shirts) -> None:
    options = [{"name": "Number", "values": [str(number) for number in range(100)]}]
    variants = [{"values": {"Number": str(number)}, "priceMinor": 5, "stock": 1} for number in range(100)]
    product = data_of(await shirts.post(SHIRT | {"options": options, "variants": variants}), 201)
    assert (len(product["variants"]), product["stock"], product["priceMinor"]) == (100, 100, 5)
    assert [each["values"]["Number"] for each in product["variants"]] == [str(number) for number in range(100)]


async def test_a_replacement_keeps_ids_and_sets_price_and_stock_of_the_product(shirts: Shirts) -> None:
    product = await shirts.create()
    red, blue = product["variants"]
    swapped = [variant("Blue", id=blue["id"], stock=7), variant("Red", id=red["id"], priceMinor=900, active=False)]
    after = data_of(await shirts.replace(product, COLOURS, swapped, if_match=product["revision"]))
    assert [(each["id"], each["active"]) for each in after["variants"]] == [(blue["id"], True), (red["id"], False)]
    assert (after["priceMinor"], after["stock"], after["revision"]) == (1_000, 7, product["revision"] + 1)
    # The same again changes nothing.
    again = data_of(await shirts.replace(product, COLOURS, swapped))
    assert again["revision"] == after["revision"]
    assert error_of(await shirts.replace(product, COLOURS, swapped, if_match=product["revision"])) == CONFLICT


async def test_values_may_move_from_one_variant_to_another(shirts: Shirts) -> None:
    product = await shirts.create()
    red, blue = product["variants"]
    after = data_of(
        await shirts.replace(product, COLOURS, [variant("Blue", id=red["id"]), variant("Red", id=blue["id"])])
    )
    assert [(each["id"], each["values"]["Colour"]) for each in after["variants"]] == [
        (red["id"], "Blue"),
        (blue["id"], "Red"),
    ]


async def test_without_variants_a_product_keeps_its_price_and_stock(shirts: Shirts) -> None:
    product = await shirts.create()
    after = data_of(await shirts.replace(product, [], []))
    assert (after["options"], after["variants"], after["priceMinor"], after["stock"]) == ([], [], 1_000, 5)
    assert data_of(await shirts.patch(product, stock=9))["stock"] == 9
    assert await shirts.search("blue") == []


async def test_price_and_stock_of_a_product_with_variants_are_changed_in_its_variants_only(shirts: Shirts) -> None:
    product = await shirts.create()
    assert faults_of(await shirts.patch(product, stock=5)) == {"stock": "is that of the variants"}
    assert faults_of(await shirts.patch(product, priceMinor=1_000)) == {"priceMinor": "is that of the variants"}
    whole = {name: product[name] for name in ("name", "description", "category", "priceMinor", "stock")}
    assert faults_of(await shirts.put(product, whole | {"stock": 6})) == {"stock": "is that of the variants"}
    assert data_of(await shirts.put(product, whole | {"name": "Polo"}))["name"] == "Polo"
    assert data_of(await shirts.patch(product, description="Cotton"))["stock"] == 5


async def test_variants_are_replaced_by_their_vendor_only(shirts: Shirts) -> None:
    product = await shirts.create()
    competitor = shirts.market.as_merchant(new_id())
    assert error_of(await shirts.replace(product, [], [], headers=competitor)) == FORBIDDEN
    assert error_of(await shirts.replace({"id": str(new_id())}, [], [])) == NOT_FOUND
    assert error_of(await shirts.replace(product, [], [], headers=shirts.market.as_buyer())) == FORBIDDEN


async def test_an_image_of_a_variant_is_one_of_the_product(shirts: Shirts) -> None:
    product = await shirts.create()
    image_id = new_id()
    await shirts.market.fetch(
        "UPDATE products SET images = to_jsonb(ARRAY[$1::text]) WHERE id = $2", str(image_id), UUID(product["id"])
    )
    after = data_of(await shirts.replace(product, COLOURS, [variant("Red", imageId=str(image_id))]))
    assert after["variants"][0]["imageId"] == str(image_id)
    path = f"/api/products/{product['id']}/images/{image_id}"
    assert (await shirts.market.client.delete(path, headers=shirts.market.as_merchant())).status_code == 204
    assert (await shirts.read(product))["variants"][0]["imageId"] is None


async def test_words_of_a_variant_find_its_product(shirts: Shirts) -> None:
    product = await shirts.create()
    for words in ("blue", "shirt red", "Bleu"):
        assert await shirts.search(words) == [product["id"]], words
    assert await shirts.search("green") == []
    data_of(await shirts.patch(product, name="Polo"))
    assert await shirts.search("polo blue") == [product["id"]]
    data_of(await shirts.replace(product, [COLOURS[0] | {"values": ["Green"]}, COLOURS[1]], [variant("Green")]))
    assert (await shirts.search("green"), await shirts.search("blue")) == ([product["id"]], [])


async def test_two_replacements_of_one_revision_do_not_both_succeed(shirts: Shirts) -> None:
    product = await shirts.create()
    sets = [[variant("Red", stock=stock)] for stock in (1, 2)]
    responses = await asyncio.gather(
        *(shirts.replace(product, COLOURS, each, if_match=product["revision"]) for each in sets)
    )
    assert sorted(response.status_code for response in responses) == [200, 409]
    [winner] = [data_of(response) for response in responses if response.status_code == 200]
    assert (await shirts.read(product))["stock"] == winner["variants"][0]["stock"] == winner["stock"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE products SET stock = stock + 1",
        "UPDATE products SET price_minor = price_minor + 1",
        "WITH emptied AS (UPDATE products SET options = '[]') UPDATE product_variants SET sku = 'x'",
        "UPDATE product_variants SET stock = stock + 1",
        "UPDATE product_variants SET active = false",
        "DELETE FROM product_variants",
    ],
)
async def test_the_database_rejects_other_totals_than_those_of_the_variants(shirts: Shirts, statement: str) -> None:
    await shirts.create(variants=[variant("Red")])
    with pytest.raises(asyncpg.CheckViolationError) as error:
        await shirts.market.fetch(statement)
    assert "are not those of its variants" in str(error.value)


async def test_condition_is_new_unless_given_and_filters_the_list(shirts: Shirts) -> None:
    new = await shirts.create()
    used = await shirts.create(condition="like_new")
    assert (new["condition"], used["condition"]) == ("new", "like_new")
    client = shirts.market.client
    for condition, expected in (("new", new), ("like_new", used)):
        listed = (await client.get("/api/products", params={"condition": condition})).json()["data"]
        assert [each["id"] for each in listed] == [expected["id"]]
        found = (await client.get("/api/products", params={"condition": condition, "q": "shirt"})).json()["data"]
        assert [each["id"] for each in found] == [expected["id"]]
    assert (await client.get("/api/products", params={"condition": "mint"})).status_code == 422
    assert data_of(await shirts.patch(new, condition="fair"))["condition"] == "fair"
    assert faults_of(await shirts.patch(new, condition="x"))
