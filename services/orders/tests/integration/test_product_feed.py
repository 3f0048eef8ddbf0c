"""The feed of all products: complete over pages, public fields, and 304 while nothing changed."""

import json

import pytest

from orders.queries import product_feed

from .conftest import Market


async def feed(market: Market, **headers: str):
    return await market.client.get("/api/products/feed", headers=headers)


async def test_the_feed_has_a_line_for_each_listed_product_whatever_the_pages(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product_feed, "_PAGE", product_feed._PAGE.replace("LIMIT 500", "LIMIT 2"))
    listed = sorted([str(await market.sell(name=f"Rice, {number} kg")) for number in range(5)])
    await market.sell(draft=True)
    response = await feed(market)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/jsonl")
    products = [json.loads(line) for line in response.text.splitlines()]
    assert [product["id"] for product in products] == listed
    alone = (await market.client.get(f"/api/products/{listed[0]}")).json()["data"]
    assert {name: alone[name] for name in products[0]} == products[0]
    assert {"flashSale", "vendorAway", "variants"}.isdisjoint(products[0])


async def test_the_feed_is_unchanged_until_a_product_is(market: Market) -> None:
    product = await market.sell()
    first = await feed(market)
    assert first.headers["cache-control"] == "public, no-cache"
    known = first.headers["etag"]
    assert (await feed(market, **{"If-None-Match": known})).status_code == 304
    await market.fetch("UPDATE products SET stock = stock - 1 WHERE id = $1 RETURNING id", product)
    changed = await feed(market, **{"If-None-Match": known})
    assert (changed.status_code, changed.headers["etag"] == known) == (200, False)


async def test_the_feed_of_an_empty_catalog_is_empty(market: Market) -> None:
    response = await feed(market)
    assert (response.status_code, response.text) == (200, "")
