"""Steps of purchases from two vendors."""

from typing import Any
from uuid import UUID, uuid4

import httpx

from common.primitives.ids import new_id
from testkit.responses import data_of

from .conftest import Market

OTHER_VENDOR = new_id()


def lines(*chosen: UUID | tuple[UUID, int]) -> list[dict[str, Any]]:
    pairs = [one if isinstance(one, tuple) else (one, 1) for one in chosen]
    return [{"productId": str(product), "quantity": quantity} for product, quantity in pairs]


async def purchase(
    market: Market, *chosen: UUID | tuple[UUID, int], key: UUID | None = None, buyer_id: UUID | None = None, **body: Any
) -> httpx.Response:
    sent = body if "cartId" in body else {"items": lines(*chosen), **body}
    headers = market.as_buyer(buyer_id, idempotency_key=key or uuid4())
    return await market.client.post("/api/purchases", json=sent, headers=headers)


async def bought(market: Market, *chosen: UUID | tuple[UUID, int], **more: Any) -> dict[str, Any]:
    return data_of(await purchase(market, *chosen, **more), 201)


async def two_products(market: Market, **columns: Any) -> tuple[UUID, UUID]:
    """Return a product of each of two vendors."""
    first = await market.sell(price_minor=100, **columns)
    return first, await market.sell(price_minor=30, vendor_id=OTHER_VENDOR, **columns)
