"""Searches as people type them: joined and split words, units, typos, no marks, emoji, stop words."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orders.domain.products import search_words
from orders.queries.search import STOP_WORDS
from testkit.responses import data_of

from .conftest import Market
from .steps import approve_vendor

SEARCHES = Path(__file__).parents[1] / "data/searches.txt"
PRODUCTS_MIN, SEARCHES_MIN = 300, 1_000
FOUND_MIN = 0.98


@dataclass(frozen=True)
class Listed:
    """A product of the list, and the searches that mean it."""

    name: str
    category: str
    values: list[str]
    searches: list[str]


def listed() -> Iterator[Listed]:
    for line in SEARCHES.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, category, searches = line.split(" :: ")
        category, _, values = category.partition(" [")
        yield Listed(name, category, values.removesuffix("]").split(", ") if values else [], searches.split(" ; "))


async def create(market: Market, product: Listed) -> str:
    body = {"name": product.name, "description": "", "category": product.category, "priceMinor": 150_000, "stock": 10}
    if product.values:
        del body["priceMinor"], body["stock"]
        body["options"] = [{"name": "Kind", "values": product.values}]
        body["variants"] = [{"values": {"Kind": value}, "priceMinor": 150_000, "stock": 1} for value in product.values]
    return data_of(await market.client.post("/api/products", json=body, headers=market.as_merchant()), 201)["id"]


async def test_the_stop_words_are_those_of_the_dictionary(market: Market) -> None:
    words = sorted(
        {word for product in listed() for typed in product.searches for word in search_words(typed)} | STOP_WORDS
    )
    rows = await market.fetch(
        "SELECT word FROM unnest($1::text[]) AS word WHERE ts_lexize('pg_catalog.english_stem', word) = '{}'", words
    )
    assert {row["word"] for row in rows} == STOP_WORDS


async def test_searches_find_the_product_that_they_mean_on_the_first_page(market: Market) -> None:
    products = list(listed())
    assert len({product.name for product in products}) == len(products) >= PRODUCTS_MIN
    await approve_vendor(market)
    ids = [await create(market, product) for product in products]
    missed, count = [], 0
    for product_id, product in zip(ids, products, strict=True):
        for typed in product.searches:
            count += 1
            page = await market.client.get("/api/products", params={"q": typed, "sort": "relevance"})
            if product_id not in [found["id"] for found in data_of(page)]:
                missed.append(f"{typed!r} for {product.name!r}")
    sys.stdout.write("\n  ".join([f"{len(missed)} of {count} searches miss their product:", *missed, ""]))
    assert count >= SEARCHES_MIN
    assert len(missed) <= (1 - FOUND_MIN) * count
