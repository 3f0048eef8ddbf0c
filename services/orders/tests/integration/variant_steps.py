"""Steps of tests of products with variants."""

from typing import Any, Final

import httpx

from testkit.responses import data_of

from .conftest import Market

COLOURS: Final = [{"name": "Colour", "values": ["Red", "Blue"]}, {"name": "Size", "values": ["M"]}]
SHIRT: Final = {"name": "Shirt", "description": "", "category": "clothes"}


def variant(colour: str, **fields: Any) -> dict[str, Any]:
    return {"values": {"Colour": colour, "Size": "M"}, "priceMinor": 1_000, "stock": 2, **fields}


def item(product: dict[str, Any], variant_id: str | None = None, quantity: int = 1) -> dict[str, Any]:
    line = {"productId": product["id"], "quantity": quantity}
    return line if variant_id is None else line | {"variantId": variant_id}


class Shirts:
    """A vendor of shirts in two colours."""

    def __init__(self, market: Market) -> None:
        self.market = market

    async def post(self, body: dict[str, Any]) -> httpx.Response:
        return await self.market.client.post("/api/products", json=body, headers=self.market.as_merchant())

    async def create(self, **fields: Any) -> dict[str, Any]:
        """Return a product: three red shirts of 1,500 kobo and two blue ones of 1,000, unless `fields` name others."""
        variants = [variant("Red", sku="R-M", priceMinor=1_500, stock=3), variant("Blue")]
        return data_of(await self.post({**SHIRT, "options": COLOURS, "variants": variants, **fields}), 201)

    async def replace(
        self,
        product: dict[str, Any],
        options: list[Any],
        variants: list[Any],
        *,
        if_match: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        sent = dict(headers or self.market.as_merchant())
        if if_match is not None:
            sent["If-Match"] = f'"{if_match}"'
        path = f"/api/products/{product['id']}/variants"
        return await self.market.client.put(path, json={"options": options, "variants": variants}, headers=sent)

    async def patch(self, product: dict[str, Any], **fields: Any) -> httpx.Response:
        path = f"/api/products/{product['id']}"
        return await self.market.client.patch(path, json=fields, headers=self.market.as_merchant())

    async def put(self, product: dict[str, Any], body: dict[str, Any]) -> httpx.Response:
        path = f"/api/products/{product['id']}"
        return await self.market.client.put(path, json=body, headers=self.market.as_merchant())

    async def read(self, product: dict[str, Any]) -> dict[str, Any]:
        return data_of(await self.market.client.get(f"/api/products/{product['id']}"))

    async def search(self, words: str) -> list[str]:
        response = await self.market.client.get("/api/products", params={"q": words})
        return [each["id"] for each in response.json()["data"]]
