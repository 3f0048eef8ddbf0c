"""The assistant through the gateway: the catalog, the caller's own orders, and words that come before the end (contract section 12)."""

import json

from operations.journey import Marketplace
from testkit.fixtures import eventually
from tests.end_to_end.steps import a_product, placed_order

from .conftest import People


async def test_the_built_in_assistant_answers_about_the_catalog_and_ones_own_order_and_nobody_elses(
    market: Marketplace, people: People
) -> None:
    product = await a_product(market)
    order = await placed_order(market, people)

    async def ask(person, message, **more):
        body = {"message": message, **more}
        answer = await market.http.post("/api/assistant/chat", json=body, headers=person.headers)
        assert answer.status_code == 200, answer.text
        assert answer.json()["data"]["provider"] == "built-in"
        return answer.json()["data"]

    found = await ask(people.buyer, f"Do you have {product['name']}?")
    assert product["name"] in found["reply"]
    assert "built-in assistant" in found["reply"]
    mine = await ask(people.buyer, "Where is my order?", conversationId=found["conversationId"])
    assert order["id"] in mine["reply"]
    assert mine["conversationId"] == found["conversationId"]
    one = await ask(people.buyer, f"How far is {order['id']}?")
    assert "status Processing: it waits for its payment" in one["reply"]
    for stranger in (people.other_buyer, people.support, people.auditor):
        response = await ask(stranger, f"How far is {order['id']}?")
        assert "You have no order with this number." in response["reply"]
        assert order["id"] not in (await ask(stranger, "show my orders"))["reply"]
    sold = await ask(people.vendor, f"How far is {order['id']}?")
    assert order["id"] in sold["reply"]

    path = f"/api/assistant/conversations/{found['conversationId']}"
    said = await market.get(f"{path}/messages", people.buyer)
    assert [row["role"] for row in said] == ["user", "assistant"] * 2
    foreign = await market.http.get(f"{path}/messages", headers=people.other_buyer.headers)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
    assert (await market.http.delete(path, headers=people.buyer.headers)).status_code == 204


async def test_a_word_is_seen_before_the_reply_ends_and_no_key_keeps_the_answer(
    market: Marketplace, people: People
) -> None:
    headers = {**people.other_buyer.headers, "Idempotency-Key": "not even a UUID"}
    body = {"message": "how much is rice, and when is it delivered?"}

    async def a_word_comes_first() -> bool:
        async with market.http.stream("POST", "/api/assistant/stream", json=body, headers=headers) as answer:
            assert (answer.status_code, answer.headers.get("X-Cache-Lookup")) == (200, None)
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            pieces = [piece async for piece in answer.aiter_text()]
        first, last = pieces[0], "".join(pieces).strip().split("\n\n")[-1]
        assert first.startswith("event: token\n")
        event, content = last.split("\n")
        assert event == "event: done"
        assert json.loads(content.removeprefix("data: "))["provider"] == "built-in"
        # What waited for a gateway that was given no time arrives in one piece, and is asked for again.
        return "event: done" not in first

    for _ in range(2):
        await eventually(a_word_comes_first)


async def test_both_endpoints_reject_messages_that_are_too_long_or_of_another_conversation(
    market: Marketplace, people: People
) -> None:
    asked = await market.http.post("/api/assistant/chat", json={"message": "hello"}, headers=people.buyer.headers)
    foreign = asked.json()["data"]["conversationId"]
    for path in ("/api/assistant/chat", "/api/v1/assistant/stream"):
        for body, status, code in (
            ({"message": "x" * 4_001}, 422, "VALIDATION_FAILED"),
            ({"message": "hello", "provider": "mine"}, 422, "VALIDATION_FAILED"),
            ({"message": "x" * 65_536}, 413, "VALIDATION_FAILED"),
            ({"message": "hello", "conversationId": foreign}, 404, "RESOURCE_NOT_FOUND"),
        ):
            answer = await market.http.post(path, json=body, headers=people.other_buyer.headers)
            assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert (await market.http.post(path, json={"message": "hello"})).status_code == 401
