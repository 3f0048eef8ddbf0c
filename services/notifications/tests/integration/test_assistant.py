"""The assistant with its two minds: what is answered, kept, refused and never said (contract section 12)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import UserErased
from testkit.fixtures import eventually

from .assistant_world import AI_KEY, DeliveryContext, asks, desk_opened, events_of, product, says
from .conftest import SERVICE_ROLE_KEY


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def built_in(module_database, broker_url) -> AsyncIterator[DeliveryContext]:
    async with desk_opened(await module_database("notifications"), broker_url, with_model=False) as opened_desk:
        yield opened_desk


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def with_model(module_database, broker_url) -> AsyncIterator[DeliveryContext]:
    urls = await module_database("notifications")
    async with desk_opened(urls, broker_url, with_model=True, assistant_ping_seconds=0.05) as opened_desk:
        yield opened_desk


@pytest.fixture
def delivery_context(with_model: DeliveryContext) -> DeliveryContext:
    """The service with a provider that has forgotten what it was told before."""
    with_model.world.forget()
    return with_model


# The built-in assistant


async def test_without_a_provider_the_built_in_assistant_answers_from_the_catalog_and_says_what_it_is(
    built_in: DeliveryContext,
):
    built_in.world.products = [product("Jollof rice", 450_000)]
    built_in.world.read.clear()
    answer = await built_in.chat(new_id(), "Do you have jollof rice under ₦5k?")
    assert answer.status_code == 200, answer.text
    told = answer.json()["data"]
    assert set(told) == {"conversationId", "reply", "provider"}
    assert told["provider"] == "built-in"
    assert "I am the built-in assistant" in told["reply"]
    assert "not a language model" in told["reply"]
    assert "Jollof rice: NGN 4,500, from Ada's Kitchen" in told["reply"]
    asked = {"limit": "5", "inStock": "true", "q": "jollof rice", "sort": "relevance", "maxPriceMinor": "500000"}
    assert built_in.world.read == [("/api/products", asked)]


async def test_the_built_in_assistant_shows_the_callers_orders_under_their_own_token(built_in: DeliveryContext):
    buyer, other = new_id(), new_id()
    built_in.world.tokens.clear()
    mine, theirs = built_in.world.order_of(buyer), built_in.world.order_of(other)
    reply = (await built_in.chat(buyer, "Where is my order?")).json()["data"]["reply"]
    assert mine["id"] in reply
    assert "is on its way" in reply
    assert theirs["id"] not in reply
    foreign = (await built_in.chat(buyer, f"What about {theirs['id']}?")).json()["data"]["reply"]
    assert "You have no order with this number." in foreign
    assert len(built_in.world.tokens) == 2
    assert await built_in.turns(buyer) == 0


async def test_a_marketplace_that_is_away_is_told_and_not_made_up(built_in: DeliveryContext):
    built_in.world.market_status = 503
    answer = await built_in.chat(new_id(), "find rice")
    built_in.world.market_status = 200
    assert answer.status_code == 200
    assert "I could not reach the marketplace just now." in answer.json()["data"]["reply"]


async def test_the_stream_says_the_same_in_pieces_and_ends_with_done(built_in: DeliveryContext):
    user = new_id()
    events = await built_in.stream(user, "How does the delivery PIN work?")
    assert {event for event, _ in events[:-1]} == {"token"}
    assert len(events) > 3
    event, done = events[-1]
    assert (event, done["provider"]) == ("done", "built-in")
    reply = "".join(told["text"] for _, told in events[:-1]).strip()
    assert "the PIN releases your money" in reply
    assert await built_in.messages(user, done["conversationId"]) == [
        ("user", "How does the delivery PIN work?"),
        ("assistant", reply),
    ]


# Who, what, how much


async def test_messages_have_1_to_4000_characters_and_no_field_that_is_not_known(built_in: DeliveryContext):
    user = new_id()
    for path in ("/api/assistant/chat", "/api/assistant/stream"):
        for body in (
            {},
            {"message": ""},
            {"message": "   "},
            {"message": "x" * 4_001},
            {"message": 7},
            {"message": "hi", "userId": str(new_id())},
            {"message": "hi", "conversationId": "1"},
        ):
            answer = await built_in.http.post(path, json=body, headers=built_in.headers(user))
            assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED"), body
        unknown = {"message": "hi", "conversationId": str(new_id())}
        answer = await built_in.http.post(path, json=unknown, headers=built_in.headers(user))
        assert (answer.status_code, answer.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
        assert (await built_in.http.post(path, json={"message": "hi"})).status_code == 401
    assert (await built_in.chat(user, "ñ" * 4_000)).status_code == 200
    assert len(await built_in.kept(user)) == 1


async def test_conversations_are_their_owners_alone_even_for_a_query_that_forgets_whose(built_in: DeliveryContext):
    owner, stranger = new_id(), new_id()
    conversation = (await built_in.chat(owner, "hello")).json()["data"]["conversationId"]
    staff = built_in.headers(stranger, roles=["support_agent", "auditor"])
    for method, path in (
        ("GET", f"/api/assistant/conversations/{conversation}/messages"),
        ("DELETE", f"/api/assistant/conversations/{conversation}"),
    ):
        answer = await built_in.http.request(method, path, headers=staff)
        assert (answer.status_code, answer.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
    assert (await built_in.chat(stranger, "and?", conversation)).status_code == 404
    for table in ("conversations", "conversation_messages", "conversation_turns"):
        async with built_in.service.runtime.database.unit_of_work(acting_as=Caller(user_id=stranger)) as uow:
            assert await uow.fetch_value(f"SELECT count(*) FROM {table}") == 0
    assert len(await built_in.messages(owner, conversation)) == 2
    path = f"/api/assistant/conversations/{conversation}"
    removed = [(await built_in.http.delete(path, headers=built_in.headers(owner))).status_code for _ in range(2)]
    assert removed == [204, 404]
    assert await built_in.service.fetch("SELECT 1 FROM conversation_messages WHERE user_id = $1", owner) == []


async def test_lists_are_walked_by_cursors_that_belong_to_one_list_and_one_caller(built_in: DeliveryContext):
    user = new_id()
    ids = []
    for number in range(3):
        ids.append((await built_in.chat(user, f"hello {number}")).json()["data"]["conversationId"])
        built_in.clock.advance(timedelta(seconds=1))
    await built_in.chat(user, "and again", ids[0])
    headers = built_in.headers(user)
    walked = await _walk(built_in.http, "/api/assistant/conversations", headers)
    assert [row["id"] for row in walked] == ids[::-1]
    assert [row["title"] for row in walked] == ["hello 2", "hello 1", "hello 0"]
    messages = await _walk(built_in.http, f"/api/assistant/conversations/{ids[0]}/messages", headers)
    assert [row["role"] for row in messages] == ["user", "assistant"] * 2
    assert set(messages[0]) == {"id", "role", "text", "provider", "createdAt"}
    assert [row["provider"] for row in messages] == [None, "built-in"] * 2
    page = await built_in.http.get("/api/assistant/conversations", params={"limit": 1}, headers=headers)
    cursor = page.json()["meta"]["next_cursor"]
    for path, who in (
        ("/api/assistant/conversations", built_in.headers(new_id())),
        (f"/api/assistant/conversations/{ids[0]}/messages", headers),
    ):
        answer = await built_in.http.get(path, params={"cursor": cursor}, headers=who)
        assert answer.status_code == 422, answer.text


async def _walk(http: httpx.AsyncClient, path: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    found, cursor = [], None
    while True:
        params = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        answer = (await http.get(path, params=params, headers=headers)).json()
        found += answer["data"]
        cursor = answer["meta"]["next_cursor"]
        assert answer["meta"]["has_more"] == (cursor is not None)
        if cursor is None:
            return found


async def test_secrets_that_a_person_writes_are_neither_kept_nor_sent_on(delivery_context: DeliveryContext):
    delivery_context.world.script = [says("Keep it to yourself.")]
    user = new_id()
    answer = await delivery_context.chat(user, "My PIN is 042917, card 5399 8300 0000 0008. Order of 2 for 5000 naira?")
    shown = "My PIN is [hidden], card [hidden]. Order of 2 for 5000 naira?"
    assert delivery_context.world.asked[0]["messages"][-1]["content"] == shown
    conversation = answer.json()["data"]["conversationId"]
    assert (await delivery_context.messages(user, conversation))[0] == ("user", shown)


# A language model


async def test_a_model_answers_with_what_it_looked_up_under_the_callers_token_only(delivery_context: DeliveryContext):
    buyer = new_id()
    order = delivery_context.world.order_of(buyer)
    delivery_context.world.products = [product("Suya", 150_000, "x" * 5_000)]
    wanted = (
        ("list_my_orders", "{}"),
        ("show_my_order", json.dumps({"orderId": order["id"].upper()})),
        ("search_products", json.dumps({"query": "suya", "maxPriceNaira": 2000.5})),
        ("show_product", json.dumps({"productId": delivery_context.world.products[0]["id"]})),
        ("search_help", json.dumps({"query": "refund"})),
    )
    delivery_context.world.script = [asks(*wanted), says("Your order is on its way.")]
    token = delivery_context.service.token(buyer)
    answer = await delivery_context.http.post(
        "/api/assistant/chat", json={"message": "Where is it?"}, headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.json()["data"]["reply"] == "Your order is on its way."
    assert answer.json()["data"]["provider"] == "openai-compatible"
    assert delivery_context.world.tokens == [token] * 4
    orders, one, found, shown, article = [told["result"] for told in delivery_context.world.results()]
    assert orders == [one]
    assert one["id"] == order["id"]
    assert (one["total"], one["status"], one["asker"]) == ("NGN 5,300", "dispatched", "buyer")
    assert found == [shown]
    assert len(shown["description"]) <= 240
    assert "refund" in article[0]["text"]
    sent = json.dumps([delivery_context.world.asked, delivery_context.world.asked_headers])
    for secret in (token, SERVICE_ROLE_KEY, str(buyer), "blue door", order["vendorId"], "buyerId"):
        assert secret not in sent
    assert {headers["authorization"] for headers in delivery_context.world.asked_headers} == {f"Bearer {AI_KEY}"}
    first = delivery_context.world.asked[0]
    assert (first["model"], first["stream"], first["max_tokens"]) == ("a-model", True, 800)
    assert {tool["function"]["name"] for tool in first["tools"]} == {name for name, _ in wanted}


async def test_the_conversation_goes_on_where_it_was_and_tokens_are_counted(delivery_context: DeliveryContext):
    user = new_id()
    delivery_context.world.script = [says("First reply.")]
    conversation = (await delivery_context.chat(user, "first")).json()["data"]["conversationId"]
    delivery_context.world.script = [says("Second reply.")]
    again = await delivery_context.chat(user, "second", conversation)
    assert again.json()["data"]["conversationId"] == conversation
    said = [(line["role"], line["content"]) for line in delivery_context.world.asked[-1]["messages"][1:]]
    assert said == [("user", "first"), ("assistant", "First reply."), ("user", "second")]
    rows = await delivery_context.service.fetch(
        "SELECT prompt_tokens, completion_tokens FROM conversation_messages WHERE user_id = $1 ORDER BY position", user
    )
    assert [tuple(row) for row in rows] == [(None, None), (11, 7)] * 2
    events = await delivery_context.stream(user, "third")
    assert events[-1][1]["usage"] == {"promptTokens": 11, "completionTokens": 7}


async def test_of_two_messages_at_once_in_a_conversation_one_is_answered_and_no_turn_is_lost(
    delivery_context: DeliveryContext,
):
    user = new_id()
    delivery_context.world.script = [says("Hello.")]
    conversation = (await delivery_context.chat(user, "hello")).json()["data"]["conversationId"]
    delivery_context.world.script = [delivery_context.world.held()]
    first = asyncio.create_task(delivery_context.chat(user, "one", conversation))
    await eventually(lambda: delivery_context.world.begun == 1)
    second = await delivery_context.chat(user, "two", conversation)
    assert (second.status_code, second.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert "Retry-After" in second.headers
    delivery_context.world.gate.set()
    assert (await first).status_code == 200
    assert (await delivery_context.chat(user, "two", conversation)).status_code == 200
    texts = [text for role, text in await delivery_context.messages(user, conversation) if role == "user"]
    assert texts == ["hello", "one", "two"]


async def test_a_person_has_at_most_three_messages_in_work_and_others_are_not_held_up(
    delivery_context: DeliveryContext,
):
    user = new_id()
    delivery_context.world.script = [delivery_context.world.held()]
    waiting = [asyncio.create_task(delivery_context.chat(user, f"number {number}")) for number in range(8)]
    refused = await asyncio.gather(*await _finished(waiting, 5))
    assert {answer.status_code for answer in refused} == {429}
    assert {answer.json()["code"] for answer in refused} == {"RATE_LIMIT_EXCEEDED"}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
    await eventually(lambda: delivery_context.world.begun == 3)
    other = asyncio.create_task(delivery_context.chat(new_id(), "hello"))
    await eventually(lambda: delivery_context.world.begun == 4)
    delivery_context.world.gate.set()
    assert (await other).status_code == 200
    assert sorted(answer.status_code for answer in await asyncio.gather(*waiting)) == [200] * 3 + [429] * 5
    assert await delivery_context.turns(user) == 0


async def _finished(tasks: list["asyncio.Task[httpx.Response]"], count: int) -> list["asyncio.Task[httpx.Response]"]:
    await eventually(lambda: sum(task.done() for task in tasks) == count)
    return [task for task in tasks if task.done()]


async def test_a_client_that_leaves_ends_the_work_at_the_provider_and_nothing_of_the_turn_is_kept(
    delivery_context: DeliveryContext,
):
    user = new_id()
    delivery_context.world.script = [delivery_context.world.held()]
    async with delivery_context.http.stream(
        "POST", "/api/assistant/stream", json={"message": "hello"}, headers=delivery_context.headers(user)
    ) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("event: token"):
                break
    await eventually(lambda: delivery_context.world.left == 1)
    leaving = asyncio.create_task(delivery_context.chat(user, "hello"))
    await eventually(lambda: delivery_context.world.begun == 2)
    leaving.cancel()
    await eventually(lambda: delivery_context.world.left == 2)
    assert leaving.cancelled()
    assert await delivery_context.kept(user) == []

    async def no_turn_is_left():
        return await delivery_context.turns(user) == 0

    await eventually(no_turn_is_left)


async def test_a_silent_stream_pings_and_a_word_is_seen_before_the_reply_ends(delivery_context: DeliveryContext):
    delivery_context.world.script = [delivery_context.world.held()]
    seen: list[str] = []
    async with delivery_context.http.stream(
        "POST", "/api/assistant/stream", json={"message": "hello"}, headers=delivery_context.headers(new_id())
    ) as answer:
        async for line in answer.aiter_lines():
            seen.append(line)
            # The provider says the rest only after a ping that follows the first word.
            if line == ": ping" and 'data: {"text":"Wait "}' in seen:
                delivery_context.world.gate.set()
    assert events_of("\n".join(seen))[-1][0] == "done"


async def test_twenty_open_streams_whose_readers_do_not_read_hurt_nobody(delivery_context: DeliveryContext):
    delivery_context.world.script = [delivery_context.world.held("word " * 2_000)]
    async with AsyncExitStack() as stack:
        for _ in range(20):
            await stack.enter_async_context(
                delivery_context.http.stream(
                    "POST",
                    "/api/assistant/stream",
                    json={"message": "hello"},
                    headers=delivery_context.headers(new_id()),
                )
            )
        await eventually(lambda: delivery_context.world.begun == 20)
        assert len(delivery_context.service.dependencies.assistant.running) == 20
        delivery_context.world.script = [says("At once.")]
        quick = await delivery_context.chat(new_id(), "hello")
        assert quick.json()["data"]["reply"] == "At once."
    await eventually(lambda: not delivery_context.service.dependencies.assistant.running)
    await eventually(lambda: delivery_context.world.left == 20)


# Its end


async def test_an_erased_persons_conversations_are_gone_and_a_reply_in_work_is_not_kept(
    delivery_context: DeliveryContext,
):
    user, other = new_id(), new_id()
    delivery_context.world.script = [says("Hello.")]
    await delivery_context.chat(user, "hello")
    await delivery_context.chat(other, "hello")
    delivery_context.world.script = [delivery_context.world.held()]
    late = asyncio.create_task(delivery_context.chat(user, "late"))
    await eventually(lambda: delivery_context.world.begun == 1)
    heard = await delivery_context.service.hear(UserErased(user_id=user))
    await delivery_context.service.hear(UserErased(user_id=user), event_id=heard.event_id)
    delivery_context.world.gate.set()
    assert (await late).status_code == 404
    assert await delivery_context.kept(user) == []
    assert await delivery_context.service.fetch("SELECT 1 FROM conversation_messages WHERE user_id = $1", user) == []
    assert len(await delivery_context.kept(other)) == 1


async def test_what_nobody_continued_for_ninety_days_is_removed_and_a_dead_processs_turn_ends(
    delivery_context: DeliveryContext,
):
    user = new_id()
    delivery_context.world.script = [says("Hello.")]
    old = (await delivery_context.chat(user, "old")).json()["data"]["conversationId"]
    current = (await delivery_context.chat(user, "living")).json()["data"]["conversationId"]
    await delivery_context.service.fetch(
        "INSERT INTO conversation_turns VALUES ($1, $2, $3, $4) RETURNING id",
        new_id(),
        user,
        UUID(current),
        delivery_context.clock.now() + timedelta(seconds=90),
    )
    assert (await delivery_context.chat(user, "hello?", current)).status_code == 409
    delivery_context.clock.advance(timedelta(days=60))
    assert (await delivery_context.chat(user, "hello again", current)).status_code == 200
    delivery_context.clock.advance(timedelta(days=40))
    assert await delivery_context.service.remove_old() >= 1
    assert [row["id"] for row in await delivery_context.kept(user)] == [current]
    assert (
        await delivery_context.service.fetch(
            "SELECT 1 FROM conversation_messages WHERE conversation_id = $1", UUID(old)
        )
        == []
    )
