"""Idempotency keys through the gateway (contract section 3)."""

import asyncio
from uuid import uuid4

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.steps import a_product

from .conftest import Users


async def post_checkout(market: Marketplace, user, product_id, key, quantity=1):
    body = {"items": [{"productId": product_id, "quantity": quantity}]}
    return await market.http.post(
        "/api/orders/checkout", json=body, headers={**user.headers, "Idempotency-Key": str(key)}
    )


async def test_twenty_checkouts_under_one_key_make_one_order(market: Marketplace, users: Users) -> None:
    product, key = await a_product(market), uuid4()
    responses = await asyncio.gather(*(post_checkout(market, users.buyer, product["id"], key) for _ in range(20)))
    made = [response for response in responses if response.status_code == 201]
    assert made
    assert {response.status_code for response in responses} <= {201, 409}
    assert len({response.json()["data"]["id"] for response in made}) == 1
    assert sum("X-Cache-Lookup" not in response.headers for response in made) == 1
    for refused in (response for response in responses if response.status_code == 409):
        assert refused.json()["code"] == "CONCURRENCY_CONFLICT"
        assert "in progress" in refused.json()["detail"]
    again = await post_checkout(market, users.buyer, product["id"], key)
    assert (again.status_code, again.headers["X-Cache-Lookup"]) == (201, "HIT")
    first = next(response for response in made if "X-Cache-Lookup" not in response.headers)
    assert again.content == first.content


async def test_a_gateway_killed_in_between_changes_nothing_about_it(
    system: System, market: Marketplace, users: Users
) -> None:
    product, key = await a_product(market), uuid4()
    first = await post_checkout(market, users.buyer, product["id"], key)
    gateway = system.process("api-gateway")
    before = gateway.kill()
    await asyncio.to_thread(gateway.wait_restarted, before, 60)
    again = await market.until("the gateway answers", lambda: reached(market, users, product, key), 60)
    assert again.headers["X-Cache-Lookup"] == "HIT"
    assert again.json()["data"]["id"] == first.json()["data"]["id"]


async def reached(market: Marketplace, users: Users, product, key):
    import httpx

    try:
        response = await post_checkout(market, users.buyer, product["id"], key)
    except httpx.TransportError:
        return None
    return response if response.status_code < 500 else None


async def test_a_key_with_other_content_is_rejected_and_a_foreign_key_is_unknown(
    market: Marketplace, users: Users
) -> None:
    product, key = await a_product(market), uuid4()
    first = await post_checkout(market, users.buyer, product["id"], key)
    other = await post_checkout(market, users.buyer, product["id"], key, quantity=2)
    assert (other.status_code, other.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    outsider = await post_checkout(market, users.other_buyer, product["id"], key)
    assert outsider.status_code == 201
    assert outsider.json()["data"]["id"] != first.json()["data"]["id"]


async def test_the_key_must_be_there_and_a_uuid_of_version_4(market: Marketplace, users: Users) -> None:
    product = await a_product(market)
    for key in ("", "abc", "018cc251-f400-7004-8000-000000000001"):
        response = await post_checkout(market, users.buyer, product["id"], key)
        assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
