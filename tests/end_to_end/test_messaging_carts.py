"""A cart of the messaging app, from the message to the purchase that its buyer confirms (contract section 6.11)."""

from typing import Any
from uuid import uuid4

from operations.journey import Marketplace
from tests.end_to_end.steps import a_product, purchase_draft


async def test_a_cart_of_the_messaging_app_is_ordered_by_its_buyer_alone(market: Marketplace) -> None:
    product = await a_product(market)
    student, path = await purchase_draft(market, product)

    async def draft() -> Any:
        response = await market.http.get(path, headers=student.headers)
        return response.json()["data"] if response.status_code == 200 else None

    shown = await market.until("the draft is there", draft, 60)
    assert [(one["productId"], one["unitPriceMinor"], one["obstacle"]) for one in shown["items"]] == [
        (product["id"], product["priceMinor"], None)
    ]
    assert await market.get("/api/purchases", student) == []
    key = {**student.headers, "Idempotency-Key": str(uuid4())}
    placed = await market.http.post(f"{path}/checkout", headers=key)
    assert placed.status_code == 201, placed.text
    [purchase] = await market.get("/api/purchases", student)
    assert purchase["id"] == placed.json()["data"]["id"]
