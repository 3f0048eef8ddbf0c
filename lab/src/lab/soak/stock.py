"""Products of a demo vendor for a run: well in stock, and many enough that checkouts do not wait for one shelf."""

from typing import Final
from uuid import uuid4

from operations.journey import Marketplace, Person

PRODUCTS: Final = 12


async def add_stock(market: Marketplace, vendor: Person, stock: int) -> list[str]:
    """Ids of new products, each `stock` times there, each at another price."""
    return [await _product(market, vendor, number, stock) for number in range(PRODUCTS)]


async def _product(market: Marketplace, vendor: Person, number: int, stock: int) -> str:
    body = {
        "name": f"Soak {uuid4().hex[:8]} {number}",
        "description": "For a soak test",
        "category": "soak",
        "priceMinor": 1_000 + number,
        "stock": stock,
    }
    return str((await market.post("/api/products", body, vendor, key=uuid4()))["id"])
