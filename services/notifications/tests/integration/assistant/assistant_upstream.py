"""The upstreams of the assistant: a catalog and orders, and a scripted OpenAI-compatible provider."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from common.primitives.public_numbers import NumberKind, new_number
from common.process.service import http_app
from notifications.app import SERVICE
from testkit.fixtures import DatabaseUrls
from testkit.providers.language_model import chat_completions as language_model
from testkit.service_kit import OpenService, opened, served

from ..conftest import KEYS, SERVICE_ROLE_KEY

AI_KEY = "sk-a-key-of-the-provider"
Reply = Callable[[dict[str, Any]], Awaitable[Response]]


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One event of a provider's stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + json.dumps({"choices": choices, **more}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def streamed(*pieces: bytes) -> Response:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return StreamingResponse(body(), media_type="text/event-stream")


def words(text: str) -> Response:
    """Return a reply in pieces that break anywhere, with its usage."""
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return streamed(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"), chunk(usage=usage), DONE)


def calls(*tool_calls: tuple[str, str]) -> Response:
    """Call of tools by name and arguments, the arguments in two pieces."""
    pieces = []
    for index, (name, arguments) in enumerate(tool_calls):
        half = len(arguments) // 2
        first = {"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": arguments[:half]}}
        pieces += [chunk({"tool_calls": [first]})]
        pieces += [chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[half:]}}]})]
    return streamed(*pieces, chunk({}, "tool_calls"), DONE)


def calls_tools(*tool_calls: tuple[str, str]) -> Reply:
    async def response(_: dict[str, Any]) -> Response:
        return calls(*tool_calls)

    return response


def replies_with(text: str) -> Reply:
    async def response(_: dict[str, Any]) -> Response:
        return words(text)

    return response


def responds_with(make: Callable[[], Response]) -> Reply:
    async def response(_: dict[str, Any]) -> Response:
        return make()

    return response


@dataclass(slots=True)
class AssistantUpstream:
    """`replies` are the provider's next replies; the last one repeats. The orders depend on the token, as in
    production.
    """

    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    request_headers: list[dict[str, str]] = field(default_factory=list)
    products: list[dict[str, Any]] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    market_requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    market_tokens: list[str] = field(default_factory=list)
    shows_all_orders: bool = False
    market_status: int = 200
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    started: int = 0
    disconnects: int = 0
    url: str = ""

    def reset(self) -> None:
        """Delete all requests and replies."""
        self.replies, self.requests, self.request_headers = [], [], []
        self.products, self.orders, self.market_requests, self.market_tokens = [], [], [], []
        self.shows_all_orders, self.market_status, self.started, self.disconnects = False, 200, 0, 0
        self.gate = asyncio.Event()

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        language_model.API.check_request("POST", "/chat/completions", body)
        self.requests.append(body)
        self.request_headers.append(dict(request.headers))
        step = self.replies[0] if len(self.replies) == 1 else self.replies.pop(0)
        return await step(body)

    def held(self, first: str = "Wait ") -> Reply:
        """One token, then nothing until the gate opens; counts earlier disconnects."""

        async def response(_: dict[str, Any]) -> Response:
            async def body() -> AsyncIterator[bytes]:
                self.started += 1
                try:
                    yield chunk({"content": first})
                    await self.gate.wait()
                    yield chunk({"content": "for it."}, "stop") + DONE
                finally:
                    self.disconnects += not self.gate.is_set()

            return StreamingResponse(body(), media_type="text/event-stream")

        return response

    def results(self) -> list[dict[str, Any]]:
        """Return the tool results in the model's last request."""
        return [json.loads(line["content"]) for line in self.requests[-1]["messages"] if line["role"] == "tool"]

    def order_of(self, user_id: UUID, **more: Any) -> dict[str, Any]:
        order = {
            "id": str(new_id()),
            "number": new_number(NumberKind.ORDER),
            "status": "dispatched",
            "totalMinor": 530_000,
            "refundedMinor": 0,
            "buyerId": str(user_id),
            "vendorId": str(new_id()),
            "items": [{"name": "Jollof rice", "quantity": 2}],
            "deliveryNote": "behind the blue door",
            "createdAt": "2026-01-01T00:00:00.000Z",
            **more,
        }
        self.orders.append(order)
        return order

    async def market(self, request: Request) -> Response:
        token = request.headers["authorization"].removeprefix("Bearer ")
        self.market_tokens.append(token)
        self.market_requests.append((request.url.path, dict(request.query_params)))
        if self.market_status != 200:
            return JSONResponse({"detail": "unavailable"}, self.market_status)
        user_id = jwt.decode(token, options={"verify_signature": False})["sub"]
        parts = request.url.path.split("/")
        rows: Sequence[dict[str, Any]] = self.products
        if parts[2] == "orders":
            rows = [row for row in self.orders if self.shows_all_orders or row["buyerId"] == user_id]
            if (searched := request.query_params.get("q")) is not None:
                rows = [row for row in rows if searched in (row["number"], row["id"])]
        if len(parts) == 3:
            return JSONResponse({"success": True, "data": list(rows)})
        found = next((row for row in rows if row["id"] == parts[3]), None)
        return JSONResponse({"success": True, "data": found} if found else {"status": 404}, 200 if found else 404)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/ai/v1/chat/completions", self.complete, methods=["POST"]),
                Route("/market/{rest:path}", self._below, methods=["GET"]),
            ]
        )

    async def _below(self, request: Request) -> Response:
        request.scope["path"] = request.scope["path"].removeprefix("/market")
        request.scope.pop("raw_path", None)
        return await self.market(Request(request.scope, request.receive))


def product(name: str, price_minor: int, description: str = "") -> dict[str, Any]:
    return {
        "id": str(new_id()),
        "name": name,
        "description": description,
        "category": "Meals",
        "vendorName": "Ada's Kitchen",
        "priceMinor": price_minor,
        "inStock": True,
    }


def events_of(text: str) -> list[tuple[str, Any]]:
    """Server-sent events as (event, JSON), without comments."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


@dataclass(frozen=True)
class AssistantScenario:
    """The service on a real socket, with its upstreams."""

    app: OpenService
    upstream: AssistantUpstream
    client: httpx.AsyncClient
    clock: ManualClock

    def headers(self, user_id: UUID, **claims: Any) -> dict[str, str]:
        return self.app.headers(user_id, **claims)

    async def chat(self, user_id: UUID, message: str, conversation: str | None = None, **claims: Any) -> httpx.Response:
        body = {"message": message} | ({"conversationId": conversation} if conversation else {})
        return await self.client.post("/api/assistant/chat", json=body, headers=self.headers(user_id, **claims))

    async def stream(self, user_id: UUID, message: str) -> list[tuple[str, Any]]:
        response = await self.client.post(
            "/api/assistant/stream", json={"message": message}, headers=self.headers(user_id)
        )
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        return events_of(response.text)

    async def messages(self, user_id: UUID, conversation: str) -> list[tuple[str, str]]:
        response = await self.client.get(
            f"/api/assistant/conversations/{conversation}/messages", headers=self.headers(user_id)
        )
        assert response.status_code == 200, response.text
        return [(row["role"], row["text"]) for row in response.json()["data"]]

    async def conversations(self, user_id: UUID) -> list[dict[str, Any]]:
        response = await self.client.get("/api/assistant/conversations", headers=self.headers(user_id))
        rows: list[dict[str, Any]] = response.json()["data"]
        return rows

    async def turns(self, user_id: UUID) -> int:
        rows = await self.app.fetch("SELECT 1 FROM conversation_turns WHERE user_id = $1", user_id)
        return len(rows)


@asynccontextmanager
async def opened_assistant(
    urls: DatabaseUrls, broker_url: str, *, with_model: bool, **settings: Any
) -> AsyncIterator[AssistantScenario]:
    """Yield the service with a provider or without one; keyword arguments replace settings."""
    upstream, clock = AssistantUpstream(), ManualClock()
    async with AsyncExitStack() as stack:
        upstream.url = await stack.enter_async_context(served(upstream.app()))
        model = {"ai_base_url": f"{upstream.url}/ai/v1", "ai_api_key": AI_KEY, "ai_model": "a-model"}
        values = {
            **KEYS,
            "service_role_key": SERVICE_ROLE_KEY,
            "sms_api_url": "http://127.0.0.1:9",
            "smtp_url": "smtp://127.0.0.1:9",
            "orders_url": f"{upstream.url}/market",
            **(model if with_model else {}),
            **settings,
        }
        service = await stack.enter_async_context(opened(SERVICE, urls, broker_url, clock=clock, **values))
        app = http_app(SERVICE, service.settings, service.runtime, service.dependencies)
        url = await stack.enter_async_context(served(app))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=60))
        yield AssistantScenario(service, upstream, client, clock)
