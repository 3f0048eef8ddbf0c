"""Shorthands of the story for tests."""

from typing import Any

from campus_tools.journey import Marketplace
from contracts.demo import ADA
from tests.end_to_end.conftest import People

# Five tests of a run may empty a shelf; a well-stocked product keeps the others independent.
STOCK_MIN = 10


async def a_product(market: Marketplace, *, at_least_minor: int = 10_000) -> dict[str, Any]:
    """A product of the demo vendor Ada that is well in stock."""
    for product in await market.products(vendorId=str(ADA.id), inStock="true", limit=100):
        if product["stock"] >= STOCK_MIN and product["priceMinor"] >= at_least_minor:
            return product
    raise AssertionError("the demo data has no such product")


async def placed_order(market: Marketplace, people: People, quantity: int = 1, **more: Any) -> dict[str, Any]:
    product = await a_product(market)
    return await market.checkout(people.buyer, product["id"], quantity, **more)


async def paid_order(market: Marketplace, people: People) -> dict[str, Any]:
    """An order whose money is held in escrow."""
    order = await placed_order(market, people)
    await market.pay(await market.pay_intent(people.buyer, order["id"]))
    return await market.order_reaches(people.buyer, order["id"], "paid_escrow")


async def delivered_order(market: Marketplace, people: People) -> dict[str, Any]:
    """An order that was dispatched, delivered and released."""
    order = await paid_order(market, people)
    await market.dispatch(people.vendor, order["id"])
    await market.verify_delivery(people.vendor, order["id"], await market.delivery_pin(people.buyer, order["id"]))
    return await market.order_reaches(people.buyer, order["id"], "paid")
