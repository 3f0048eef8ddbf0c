"""The assistant through the gateway: the catalog, the caller's own orders, and words that arrive before the end
(contract section 12).
"""

import json

from operations.journey import Marketplace
from testkit.fixtures import eventually
from tests.end_to_end.steps import a_product, placed_order

from .conftest import Users


async def test_the_built_in_assistant_replies_on_the_catalog_and_only_the_callers_orders(
    market: Marketplace, users: Users
) -> None:
    product = await a_product(market)
    order = await placed_order(market, users)

    async def send(user, message, **more):
        body = {"message": message, **more}
        reply = await market.http.post("/api/assistant/chat", json=body, headers=user.headers)
        assert reply.status_code == 200, reply.text
        assert reply.json()["data"]["provider"] == "built-in"
        return reply.json()["data"]

    found = await send(users.buyer, f"Do you have {product['name']}?")
    assert product["name"] in found["reply"]
    assert "built-in assistant" in found["reply"]
    mine = await send(users.buyer, "Where is my order?", conversationId=found["conversationId"])
    assert order["number"] in mine["reply"]
    assert mine["conversationId"] == found["conversationId"]
    one = await send(users.buyer, f"How far is {order['id']}?")
    assert "status Processing: it waits for its payment" in one["reply"]
    for outsider in (users.other_buyer, users.support, users.auditor):
        response = await send(outsider, f"How far is {order['id']}?")
        assert "You have no order with this number." in response["reply"]
        assert order["number"] not in (await send(outsider, "show my orders"))["reply"]
    sold = await send(users.vendor, f"How far is {order['id']}?")
    assert order["number"] in sold["reply"]

    path = f"/api/assistant/conversations/{found['conversationId']}"
    output = await market.get(f"{path}/messages", users.buyer)
    assert [row["role"] for row in output] == ["user", "assistant"] * 2
    foreign = await market.http.get(f"{path}/messages", headers=users.other_buyer.headers)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
    assert (await market.http.delete(path, headers=users.buyer.headers)).status_code == 204


async def test_a_word_is_seen_before_the_reply_ends_and_no_key_stores_the_response(
    market: Marketplace, users: Users
) -> None:
    headers = {**users.other_buyer.headers, "Idempotency-Key": "not even a UUID"}
    body = {"message": "how much is rice, and when is it delivered?"}

    async def a_word_comes_first() -> bool:
        async with market.http.stream("POST", "/api/assistant/stream", json=body, headers=headers) as reply:
            assert (reply.status_code, reply.headers.get("X-Cache-Lookup")) == (200, None)
            assert reply.headers["Content-Type"].startswith("text/event-stream")
            pieces = [piece async for piece in reply.aiter_text()]
        first, last = pieces[0], "".join(pieces).strip().split("\n\n")[-1]
        assert first.startswith("event: token\n")
        event, content = last.split("\n")
        assert event == "event: done"
        assert json.loads(content.removeprefix("data: "))["provider"] == "built-in"
        # On a busy machine the gateway may forward the whole reply at once: request it again.
        return "event: done" not in first

    for _ in range(2):
        await eventually(a_word_comes_first)


async def test_both_endpoints_reject_messages_that_are_too_long_or_of_another_conversation(
    market: Marketplace, users: Users
) -> None:
    requested = await market.http.post("/api/assistant/chat", json={"message": "hello"}, headers=users.buyer.headers)
    foreign = requested.json()["data"]["conversationId"]
    for path in ("/api/assistant/chat", "/api/v1/assistant/stream"):
        for body, status, code in (
            ({"message": "x" * 4_001}, 422, "VALIDATION_FAILED"),
            ({"message": "hello", "provider": "mine"}, 422, "VALIDATION_FAILED"),
            ({"message": "x" * 65_536}, 413, "VALIDATION_FAILED"),
            ({"message": "hello", "conversationId": foreign}, 404, "RESOURCE_NOT_FOUND"),
        ):
            reply = await market.http.post(path, json=body, headers=users.other_buyer.headers)
            assert (reply.status_code, reply.json()["code"]) == (status, code), reply.text
        assert (await market.http.post(path, json={"message": "hello"})).status_code == 401
