"""Products of a demo vendor, several ones so that checkouts do not wait for the lock of one stock."""

from typing import Final
from uuid import uuid4

from operations.journey import Marketplace, SignedInUser

PRODUCTS: Final = 12


async def add_stock(market: Marketplace, vendor: SignedInUser, stock: int) -> list[str]:
    """Ids of new products with `stock` pieces each, all at different prices."""
    return [await add_product(market, vendor, 1_000 + number, stock) for number in range(PRODUCTS)]


async def add_product(market: Marketplace, vendor: SignedInUser, price_minor: int, stock: int) -> str:
    """Return the id of a new product; the price is in kobo."""
    name = f"Lab {uuid4().hex[:8]}"
    body = {"name": name, "description": "For a run", "category": "lab", "priceMinor": price_minor, "stock": stock}
    return str((await market.post("/api/products", body, vendor, key=uuid4()))["id"])
