"""The assistant's outside: our own catalog and orders as they answer, and an OpenAI-compatible provider that does as it is told."""

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
from common.process.service import http_app
from notifications.app import SERVICE
from testkit.fixtures import DatabaseUrls
from testkit.service_kit import OpenService, opened, served

from .conftest import KEYS, SERVICE_ROLE_KEY

AI_KEY = "sk-a-key-of-the-provider"
Answer = Callable[[dict[str, Any]], Awaitable[Response]]


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
    """A reply in pieces that break anywhere, with its usage."""
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return streamed(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"), chunk(usage=usage), DONE)


def calls(*wanted: tuple[str, str]) -> Response:
    """Calls of tools by name and arguments, the arguments in two pieces."""
    pieces = []
    for index, (name, arguments) in enumerate(wanted):
        half = len(arguments) // 2
        first = {"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": arguments[:half]}}
        pieces += [chunk({"tool_calls": [first]})]
        pieces += [chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[half:]}}]})]
    return streamed(*pieces, chunk({}, "tool_calls"), DONE)


def asks(*wanted: tuple[str, str]) -> Answer:
    async def answer(_: dict[str, Any]) -> Response:
        return calls(*wanted)

    return answer


def says(text: str) -> Answer:
    async def answer(_: dict[str, Any]) -> Response:
        return words(text)

    return answer


def answers_with(make: Callable[[], Response]) -> Answer:
    async def answer(_: dict[str, Any]) -> Response:
        return make()

    return answer


@dataclass(slots=True)
class AssistantWorld:
    """`script` is what the provider does at each request, the last of it for ever. Orders answer by the token, as they do."""

    script: list[Answer] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    asked_headers: list[dict[str, str]] = field(default_factory=list)
    products: list[dict[str, Any]] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    read: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    sees_all: bool = False
    market_status: int = 200
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    begun: int = 0
    left: int = 0
    url: str = ""

    def forget(self) -> None:
        """As on the first day."""
        self.script, self.asked, self.asked_headers = [], [], []
        self.products, self.orders, self.read, self.tokens = [], [], [], []
        self.sees_all, self.market_status, self.begun, self.left = False, 200, 0, 0
        self.gate = asyncio.Event()

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        self.asked_headers.append(dict(request.headers))
        step = self.script[0] if len(self.script) == 1 else self.script.pop(0)
        return await step(body)

    def held(self, first: str = "Wait ") -> Answer:
        """One word, then nothing until the gate opens; counts who leaves before."""

        async def answer(_: dict[str, Any]) -> Response:
            async def body() -> AsyncIterator[bytes]:
                self.begun += 1
                try:
                    yield chunk({"content": first})
                    await self.gate.wait()
                    yield chunk({"content": "for it."}, "stop") + DONE
                finally:
                    self.left += not self.gate.is_set()

            return StreamingResponse(body(), media_type="text/event-stream")

        return answer

    def results(self) -> list[dict[str, Any]]:
        """What the model was told by tools at its last request."""
        return [json.loads(line["content"]) for line in self.asked[-1]["messages"] if line["role"] == "tool"]

    def order_of(self, user_id: UUID, **more: Any) -> dict[str, Any]:
        order = {
            "id": str(new_id()),
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
        self.tokens.append(token)
        self.read.append((request.url.path, dict(request.query_params)))
        if self.market_status != 200:
            return JSONResponse({"detail": "away"}, self.market_status)
        user_id = jwt.decode(token, options={"verify_signature": False})["sub"]
        parts = request.url.path.split("/")
        rows: Sequence[dict[str, Any]] = self.products
        if parts[2] == "orders":
            rows = [row for row in self.orders if self.sees_all or row["buyerId"] == user_id]
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
class DeliveryContext:
    """The service on a real socket, and the world around it."""

    service: OpenService
    world: AssistantWorld
    http: httpx.AsyncClient
    clock: ManualClock

    def headers(self, user_id: UUID, **claims: Any) -> dict[str, str]:
        return self.service.headers(user_id, **claims)

    async def chat(self, user_id: UUID, message: str, conversation: str | None = None, **claims: Any) -> httpx.Response:
        body = {"message": message} | ({"conversationId": conversation} if conversation else {})
        return await self.http.post("/api/assistant/chat", json=body, headers=self.headers(user_id, **claims))

    async def stream(self, user_id: UUID, message: str) -> list[tuple[str, Any]]:
        answer = await self.http.post("/api/assistant/stream", json={"message": message}, headers=self.headers(user_id))
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/event-stream")
        return events_of(answer.text)

    async def messages(self, user_id: UUID, conversation: str) -> list[tuple[str, str]]:
        answer = await self.http.get(
            f"/api/assistant/conversations/{conversation}/messages", headers=self.headers(user_id)
        )
        assert answer.status_code == 200, answer.text
        return [(row["role"], row["text"]) for row in answer.json()["data"]]

    async def kept(self, user_id: UUID) -> list[dict[str, Any]]:
        answer = await self.http.get("/api/assistant/conversations", headers=self.headers(user_id))
        rows: list[dict[str, Any]] = answer.json()["data"]
        return rows

    async def turns(self, user_id: UUID) -> int:
        rows = await self.service.fetch("SELECT 1 FROM conversation_turns WHERE user_id = $1", user_id)
        return len(rows)


Open = Callable[..., Awaitable[DeliveryContext]]


@asynccontextmanager
async def desk_opened(
    urls: DatabaseUrls, broker_url: str, *, with_model: bool, **settings: Any
) -> AsyncIterator[DeliveryContext]:
    """The service with a provider or without one; keyword arguments replace settings."""
    world, clock = AssistantWorld(), ManualClock()
    async with AsyncExitStack() as stack:
        world.url = await stack.enter_async_context(served(world.app()))
        model = {"ai_base_url": f"{world.url}/ai/v1", "ai_api_key": AI_KEY, "ai_model": "a-model"}
        values = {
            **KEYS,
            "service_role_key": SERVICE_ROLE_KEY,
            "sms_api_url": "http://127.0.0.1:9",
            "smtp_url": "smtp://127.0.0.1:9",
            "orders_url": f"{world.url}/market",
            **(model if with_model else {}),
            **settings,
        }
        service = await stack.enter_async_context(opened(SERVICE, urls, broker_url, clock=clock, **values))
        app = http_app(SERVICE, service.settings, service.runtime, service.dependencies)
        url = await stack.enter_async_context(served(app))
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=60))
        yield DeliveryContext(service, world, http, clock)
