"""Steps of a vendor that several files of the console's tests need."""

from typing import Any
from uuid import uuid4

from operations.journey import Marketplace
from tests.end_to_end.conftest import Users


async def opened_conversation(market: Marketplace, users: Users, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a new product of the vendor, and the conversation in which the buyer asks about it."""
    body = {
        "name": f"Plantain {uuid4().hex[:8]}",
        "description": "Ripe.",
        "category": "groceries",
        "priceMinor": 90_000,
        "stock": 9,
    }
    product = await market.post("/api/products", body, users.vendor)
    conversation = await market.post("/api/conversations", {"productId": product["id"]}, users.buyer)
    await market.post(f"/api/conversations/{conversation['id']}/messages", {"text": text}, users.buyer)
    return product, conversation
