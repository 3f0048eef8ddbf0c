"""Idempotency keys through the gateway (contract section 3)."""

import asyncio
from uuid import uuid4

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.steps import a_product

from .conftest import People


async def post_checkout(market: Marketplace, person, product_id, key, quantity=1):
    body = {"items": [{"productId": product_id, "quantity": quantity}]}
    return await market.http.post(
        "/api/orders/checkout", json=body, headers={**person.headers, "Idempotency-Key": str(key)}
    )


async def test_twenty_checkouts_under_one_key_make_one_order(market: Marketplace, people: People) -> None:
    product, key = await a_product(market), uuid4()
    answers = await asyncio.gather(*(post_checkout(market, people.buyer, product["id"], key) for _ in range(20)))
    made = [answer for answer in answers if answer.status_code == 201]
    assert made
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.json()["data"]["id"] for answer in made}) == 1
    assert sum("X-Cache-Lookup" not in answer.headers for answer in made) == 1
    for refused in (answer for answer in answers if answer.status_code == 409):
        assert refused.json()["code"] == "CONCURRENCY_CONFLICT"
        assert "in progress" in refused.json()["detail"]
    again = await post_checkout(market, people.buyer, product["id"], key)
    assert (again.status_code, again.headers["X-Cache-Lookup"]) == (201, "HIT")
    first = next(answer for answer in made if "X-Cache-Lookup" not in answer.headers)
    assert again.content == first.content


async def test_a_gateway_killed_in_between_changes_nothing_about_it(
    system: System, market: Marketplace, people: People
) -> None:
    product, key = await a_product(market), uuid4()
    first = await post_checkout(market, people.buyer, product["id"], key)
    gateway = system.process("api-gateway")
    before = gateway.kill()
    await asyncio.to_thread(gateway.wait_restarted, before, 60)
    again = await market.until("the gateway answers", lambda: reached(market, people, product, key), 60)
    assert again.headers["X-Cache-Lookup"] == "HIT"
    assert again.json()["data"]["id"] == first.json()["data"]["id"]


async def reached(market: Marketplace, people: People, product, key):
    import httpx

    try:
        answer = await post_checkout(market, people.buyer, product["id"], key)
    except httpx.TransportError:
        return None
    return answer if answer.status_code < 500 else None


async def test_a_key_with_other_content_is_refused_and_a_foreign_key_is_a_stranger(
    market: Marketplace, people: People
) -> None:
    product, key = await a_product(market), uuid4()
    first = await post_checkout(market, people.buyer, product["id"], key)
    other = await post_checkout(market, people.buyer, product["id"], key, quantity=2)
    assert (other.status_code, other.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    stranger = await post_checkout(market, people.other_buyer, product["id"], key)
    assert stranger.status_code == 201
    assert stranger.json()["data"]["id"] != first.json()["data"]["id"]


async def test_the_key_must_be_there_and_a_uuid_of_version_4(market: Marketplace, people: People) -> None:
    product = await a_product(market)
    for key in ("", "abc", "018cc251-f400-7004-8000-000000000001"):
        answer = await post_checkout(market, people.buyer, product["id"], key)
        assert (answer.status_code, answer.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
