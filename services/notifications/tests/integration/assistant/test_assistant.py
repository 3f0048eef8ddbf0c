"""The assistant, built-in and with a language model: replies, history, limits and erasure (contract section 12)."""

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
from testkit.fixtures import DatabaseFactory, eventually

from ..conftest import SERVICE_ROLE_KEY
from .assistant_upstream import (
    AI_KEY,
    AssistantScenario,
    calls_tools,
    events_of,
    opened_assistant,
    product,
    replies_with,
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def built_in(module_database: DatabaseFactory, broker_url: str) -> AsyncIterator[AssistantScenario]:
    async with opened_assistant(await module_database("notifications"), broker_url, with_model=False) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def with_model(module_database: DatabaseFactory, broker_url: str) -> AsyncIterator[AssistantScenario]:
    urls = await module_database("notifications")
    async with opened_assistant(urls, broker_url, with_model=True, assistant_ping_seconds=0.05) as opened:
        yield opened


@pytest.fixture
def assistant(with_model: AssistantScenario) -> AssistantScenario:
    """Return the service with a provider without earlier requests."""
    with_model.upstream.reset()
    return with_model


# The built-in assistant


async def test_the_built_in_assistant_replies_from_the_catalog(
    built_in: AssistantScenario,
) -> None:
    built_in.upstream.products = [product("Jollof rice", 450_000)]
    built_in.upstream.market_requests.clear()
    response = await built_in.chat(new_id(), "Do you have jollof rice under ₦5k?")
    assert response.status_code == 200, response.text
    reply = response.json()["data"]
    assert set(reply) == {"conversationId", "reply", "provider"}
    assert reply["provider"] == "built-in"
    assert "I am the built-in assistant" in reply["reply"]
    assert "not a language model" in reply["reply"]
    assert "Jollof rice: NGN 4,500, from Ada's Kitchen" in reply["reply"]
    requests = {"limit": "5", "inStock": "true", "q": "jollof rice", "sort": "relevance", "maxPriceMinor": "500000"}
    assert built_in.upstream.market_requests == [("/api/products", requests)]


async def test_the_built_in_assistant_reads_orders_with_the_callers_token(built_in: AssistantScenario) -> None:
    buyer, other = new_id(), new_id()
    built_in.upstream.market_tokens.clear()
    mine, theirs = built_in.upstream.order_of(buyer), built_in.upstream.order_of(other)
    reply = (await built_in.chat(buyer, "Where is my order?")).json()["data"]["reply"]
    assert mine["number"] in reply
    assert mine["id"] not in reply
    assert "is on its way" in reply
    assert theirs["number"] not in reply
    foreign = (await built_in.chat(buyer, f"What about {theirs['id']}?")).json()["data"]["reply"]
    assert "You have no order with this number." in foreign
    assert len(built_in.upstream.market_tokens) == 2
    assert await built_in.turns(buyer) == 0


async def test_an_unavailable_marketplace_is_reported(built_in: AssistantScenario) -> None:
    built_in.upstream.market_status = 503
    response = await built_in.chat(new_id(), "find rice")
    built_in.upstream.market_status = 200
    assert response.status_code == 200
    assert "I could not reach the marketplace just now." in response.json()["data"]["reply"]


async def test_the_stream_sends_the_reply_in_tokens(built_in: AssistantScenario) -> None:
    user = new_id()
    events = await built_in.stream(user, "How does the delivery PIN work?")
    assert {event for event, _ in events[:-1]} == {"token"}
    assert len(events) > 3
    event, done = events[-1]
    assert (event, done["provider"]) == ("done", "built-in")
    reply = "".join(token["text"] for _, token in events[:-1]).strip()
    assert "the PIN releases your money" in reply
    assert await built_in.messages(user, done["conversationId"]) == [
        ("user", "How does the delivery PIN work?"),
        ("assistant", reply),
    ]


# Users, validation, limits


async def test_an_invalid_message_is_422(built_in: AssistantScenario) -> None:
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
            response = await built_in.client.post(path, json=body, headers=built_in.headers(user))
            assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED"), body
        unknown = {"message": "hi", "conversationId": str(new_id())}
        response = await built_in.client.post(path, json=unknown, headers=built_in.headers(user))
        assert (response.status_code, response.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
        assert (await built_in.client.post(path, json={"message": "hi"})).status_code == 401
    assert (await built_in.chat(user, "ñ" * 4_000)).status_code == 200
    assert len(await built_in.conversations(user)) == 1


async def test_conversations_belong_to_their_owner(built_in: AssistantScenario) -> None:
    owner, other_user = new_id(), new_id()
    conversation = (await built_in.chat(owner, "hello")).json()["data"]["conversationId"]
    staff = built_in.headers(other_user, roles=["support_agent", "auditor"])
    for method, path in (
        ("GET", f"/api/assistant/conversations/{conversation}/messages"),
        ("DELETE", f"/api/assistant/conversations/{conversation}"),
    ):
        response = await built_in.client.request(method, path, headers=staff)
        assert (response.status_code, response.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
    assert (await built_in.chat(other_user, "and?", conversation)).status_code == 404
    for table in ("conversations", "conversation_messages", "conversation_turns"):
        async with built_in.app.runtime.database.unit_of_work(acting_as=Caller(user_id=other_user)) as uow:
            assert await uow.fetch_value(f"SELECT count(*) FROM {table}") == 0
    assert len(await built_in.messages(owner, conversation)) == 2
    path = f"/api/assistant/conversations/{conversation}"
    removed = [(await built_in.client.delete(path, headers=built_in.headers(owner))).status_code for _ in range(2)]
    assert removed == [204, 404]
    assert await built_in.app.fetch("SELECT 1 FROM conversation_messages WHERE user_id = $1", owner) == []


async def test_a_cursor_belongs_to_one_list_and_one_caller(built_in: AssistantScenario) -> None:
    user = new_id()
    ids = []
    for number in range(3):
        ids.append((await built_in.chat(user, f"hello {number}")).json()["data"]["conversationId"])
        built_in.clock.advance(timedelta(seconds=1))
    await built_in.chat(user, "and again", ids[0])
    headers = built_in.headers(user)
    walked = await _walk(built_in.client, "/api/assistant/conversations", headers)
    assert [row["id"] for row in walked] == ids[::-1]
    assert [row["title"] for row in walked] == ["hello 2", "hello 1", "hello 0"]
    messages = await _walk(built_in.client, f"/api/assistant/conversations/{ids[0]}/messages", headers)
    assert [row["role"] for row in messages] == ["user", "assistant"] * 2
    assert set(messages[0]) == {"id", "role", "text", "provider", "createdAt"}
    assert [row["provider"] for row in messages] == [None, "built-in"] * 2
    page = await built_in.client.get("/api/assistant/conversations", params={"limit": 1}, headers=headers)
    cursor = page.json()["meta"]["next_cursor"]
    for path, caller in (
        ("/api/assistant/conversations", built_in.headers(new_id())),
        (f"/api/assistant/conversations/{ids[0]}/messages", headers),
    ):
        response = await built_in.client.get(path, params={"cursor": cursor}, headers=caller)
        assert response.status_code == 422, response.text


async def _walk(http: httpx.AsyncClient, path: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    found, cursor = [], None
    while True:
        params = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        response = (await http.get(path, params=params, headers=headers)).json()
        found += response["data"]
        cursor = response["meta"]["next_cursor"]
        assert response["meta"]["has_more"] == (cursor is not None)
        if cursor is None:
            return found


async def test_secrets_in_a_message_are_hidden(assistant: AssistantScenario) -> None:
    assistant.upstream.replies = [replies_with("Keep it to yourself.")]
    user = new_id()
    response = await assistant.chat(user, "My PIN is 042917, card 5399 8300 0000 0008. Order of 2 for 5000 naira?")
    shown = "My PIN is [hidden], card [hidden]. Order of 2 for 5000 naira?"
    assert assistant.upstream.requests[0]["messages"][-1]["content"] == shown
    conversation = response.json()["data"]["conversationId"]
    assert (await assistant.messages(user, conversation))[0] == ("user", shown)


# A language model


async def test_a_model_reads_with_the_callers_token_only(assistant: AssistantScenario) -> None:
    buyer = new_id()
    order = assistant.upstream.order_of(buyer)
    assistant.upstream.products = [product("Suya", 150_000, "x" * 5_000)]
    tool_calls = (
        ("list_my_orders", "{}"),
        ("show_my_order", json.dumps({"orderNumber": order["number"].lower().replace("-", "\u2013")})),
        ("search_products", json.dumps({"query": "suya", "maxPriceNaira": 2000.5})),
        ("show_product", json.dumps({"productId": assistant.upstream.products[0]["id"]})),
        ("search_help", json.dumps({"query": "refund"})),
    )
    assistant.upstream.replies = [calls_tools(*tool_calls), replies_with("Your order is on its way.")]
    token = assistant.app.token(buyer)
    response = await assistant.client.post(
        "/api/assistant/chat", json={"message": "Where is it?"}, headers={"Authorization": f"Bearer {token}"}
    )
    assert response.json()["data"]["reply"] == "Your order is on its way."
    assert response.json()["data"]["provider"] == "openai-compatible"
    assert assistant.upstream.market_tokens == [token] * 4
    orders, one, found, shown, article = [call["result"] for call in assistant.upstream.results()]
    assert orders == [one]
    assert one["number"] == order["number"]
    assert order["id"] not in json.dumps(assistant.upstream.requests)
    assert (one["total"], one["status"], one["asker"]) == ("NGN 5,300", "dispatched", "buyer")
    assert found == [shown]
    assert len(shown["description"]) <= 240
    assert "refund" in article[0]["text"]
    sent = json.dumps([assistant.upstream.requests, assistant.upstream.request_headers])
    for secret in (token, SERVICE_ROLE_KEY, str(buyer), "blue door", order["vendorId"], "buyerId"):
        assert secret not in sent
    assert {headers["authorization"] for headers in assistant.upstream.request_headers} == {f"Bearer {AI_KEY}"}
    first = assistant.upstream.requests[0]
    assert (first["model"], first["stream"], first["max_completion_tokens"]) == ("a-model", True, 800)
    assert {tool["function"]["name"] for tool in first["tools"]} == {name for name, _ in tool_calls}


async def test_a_conversation_continues_with_its_history(assistant: AssistantScenario) -> None:
    user = new_id()
    assistant.upstream.replies = [replies_with("First reply.")]
    conversation = (await assistant.chat(user, "first")).json()["data"]["conversationId"]
    assistant.upstream.replies = [replies_with("Second reply.")]
    again = await assistant.chat(user, "second", conversation)
    assert again.json()["data"]["conversationId"] == conversation
    lines = [(line["role"], line["content"]) for line in assistant.upstream.requests[-1]["messages"][1:]]
    assert lines == [("user", "first"), ("assistant", "First reply."), ("user", "second")]
    rows = await assistant.app.fetch(
        "SELECT prompt_tokens, completion_tokens FROM conversation_messages WHERE user_id = $1 ORDER BY position", user
    )
    assert [tuple(row) for row in rows] == [(None, None), (11, 7)] * 2
    events = await assistant.stream(user, "third")
    assert events[-1][1]["usage"] == {"promptTokens": 11, "completionTokens": 7}


async def test_a_conversation_processes_one_message_at_a_time(
    assistant: AssistantScenario,
) -> None:
    user = new_id()
    assistant.upstream.replies = [replies_with("Hello.")]
    conversation = (await assistant.chat(user, "hello")).json()["data"]["conversationId"]
    assistant.upstream.replies = [assistant.upstream.held()]
    first = asyncio.create_task(assistant.chat(user, "one", conversation))
    await eventually(lambda: assistant.upstream.started == 1)
    second = await assistant.chat(user, "two", conversation)
    assert (second.status_code, second.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert "Retry-After" in second.headers
    assistant.upstream.gate.set()
    assert (await first).status_code == 200
    assert (await assistant.chat(user, "two", conversation)).status_code == 200
    texts = [text for role, text in await assistant.messages(user, conversation) if role == "user"]
    assert texts == ["hello", "one", "two"]


async def test_a_user_has_the_whole_quota_of_a_minute_running_and_no_more(assistant: AssistantScenario) -> None:
    user = new_id()
    assistant.upstream.replies = [assistant.upstream.held()]
    waiting = [asyncio.create_task(assistant.chat(user, f"number {number}")) for number in range(25)]
    refused = await asyncio.gather(*await _finished(waiting, 5))
    assert {response.status_code for response in refused} == {429}
    assert {response.json()["code"] for response in refused} == {"RATE_LIMIT_EXCEEDED"}
    assert all(int(response.headers["Retry-After"]) > 0 for response in refused)
    await eventually(lambda: assistant.upstream.started == 20)
    other = asyncio.create_task(assistant.chat(new_id(), "hello"))
    await eventually(lambda: assistant.upstream.started == 21)
    assistant.upstream.gate.set()
    assert (await other).status_code == 200
    assert sorted(response.status_code for response in await asyncio.gather(*waiting)) == [200] * 20 + [429] * 5
    assert await assistant.turns(user) == 0


async def _finished(tasks: list["asyncio.Task[httpx.Response]"], count: int) -> list["asyncio.Task[httpx.Response]"]:
    await eventually(lambda: sum(task.done() for task in tasks) == count)
    return [task for task in tasks if task.done()]


async def test_a_disconnect_cancels_the_reply(
    assistant: AssistantScenario,
) -> None:
    user = new_id()
    assistant.upstream.replies = [assistant.upstream.held()]
    async with assistant.client.stream(
        "POST", "/api/assistant/stream", json={"message": "hello"}, headers=assistant.headers(user)
    ) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: token"):
                break
    await eventually(lambda: assistant.upstream.disconnects == 1)
    disconnected = asyncio.create_task(assistant.chat(user, "hello"))
    await eventually(lambda: assistant.upstream.started == 2)
    disconnected.cancel()
    await eventually(lambda: assistant.upstream.disconnects == 2)
    assert disconnected.cancelled()
    assert await assistant.conversations(user) == []

    async def no_turn_is_left():
        return await assistant.turns(user) == 0

    await eventually(no_turn_is_left)


async def test_a_idle_stream_pings_and_a_word_is_seen_before_the_reply_ends(assistant: AssistantScenario) -> None:
    assistant.upstream.replies = [assistant.upstream.held()]
    seen: list[str] = []
    async with assistant.client.stream(
        "POST", "/api/assistant/stream", json={"message": "hello"}, headers=assistant.headers(new_id())
    ) as response:
        async for line in response.aiter_lines():
            seen.append(line)
            # The provider sends the rest only after a ping that follows the first token.
            if line == ": ping" and 'data: {"text":"Wait "}' in seen:
                assistant.upstream.gate.set()
    assert events_of("\n".join(seen))[-1][0] == "done"


async def test_twenty_blocked_streams_delay_no_other_reply(assistant: AssistantScenario) -> None:
    assistant.upstream.replies = [assistant.upstream.held("word " * 2_000)]
    async with AsyncExitStack() as stack:
        for _ in range(20):
            await stack.enter_async_context(
                assistant.client.stream(
                    "POST",
                    "/api/assistant/stream",
                    json={"message": "hello"},
                    headers=assistant.headers(new_id()),
                )
            )
        await eventually(lambda: assistant.upstream.started == 20)
        assert len(assistant.app.dependencies.assistant.running) == 20
        assistant.upstream.replies = [replies_with("At once.")]
        quick = await assistant.chat(new_id(), "hello")
        assert quick.json()["data"]["reply"] == "At once."
    await eventually(lambda: not assistant.app.dependencies.assistant.running)
    await eventually(lambda: assistant.upstream.disconnects == 20)


# Erasure and retention


async def test_an_erasure_deletes_conversations_and_running_replies(assistant: AssistantScenario) -> None:
    user, other = new_id(), new_id()
    assistant.upstream.replies = [replies_with("Hello.")]
    await assistant.chat(user, "hello")
    await assistant.chat(other, "hello")
    assistant.upstream.replies = [assistant.upstream.held()]
    late = asyncio.create_task(assistant.chat(user, "late"))
    await eventually(lambda: assistant.upstream.started == 1)
    received = await assistant.app.deliver(UserErased(user_id=user))
    await assistant.app.deliver(UserErased(user_id=user), event_id=received.event_id)
    assistant.upstream.gate.set()
    assert (await late).status_code == 404
    assert await assistant.conversations(user) == []
    assert await assistant.app.fetch("SELECT 1 FROM conversation_messages WHERE user_id = $1", user) == []
    assert len(await assistant.conversations(other)) == 1


async def test_idle_conversations_expire_after_ninety_days(
    assistant: AssistantScenario,
) -> None:
    user = new_id()
    assistant.upstream.replies = [replies_with("Hello.")]
    old = (await assistant.chat(user, "old")).json()["data"]["conversationId"]
    current = (await assistant.chat(user, "living")).json()["data"]["conversationId"]
    await assistant.app.fetch(
        "INSERT INTO conversation_turns VALUES ($1, $2, $3, $4) RETURNING id",
        new_id(),
        user,
        UUID(current),
        assistant.clock.now() + timedelta(seconds=90),
    )
    assert (await assistant.chat(user, "hello?", current)).status_code == 409
    assistant.clock.advance(timedelta(days=60))
    assert (await assistant.chat(user, "hello again", current)).status_code == 200
    assistant.clock.advance(timedelta(days=40))
    assert await assistant.app.remove_old() >= 1
    assert [row["id"] for row in await assistant.conversations(user)] == [current]
    assert await assistant.app.fetch("SELECT 1 FROM conversation_messages WHERE conversation_id = $1", UUID(old)) == []
