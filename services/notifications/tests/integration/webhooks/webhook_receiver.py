"""A receiver of webhooks on a real socket. It verifies each signature by the text of Standard Webhooks."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from testkit.service_kit import served


@dataclass(frozen=True)
class Webhook:
    """A received request."""

    id: str
    timestamp: int
    signatures: list[str]
    body: bytes
    path: str
    traceparent: str | None = None

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.body)
        return content

    def is_signed_by(self, secret: str) -> bool:
        """Return whether one of the signatures is that of the secret: HMAC-SHA256 over `id.timestamp.body`."""
        key = base64.b64decode(secret[len("whsec_") :], validate=True)
        digest = hmac.digest(
            key, b".".join([self.id.encode(), str(self.timestamp).encode(), self.body]), hashlib.sha256
        )
        return f"v1,{base64.b64encode(digest).decode()}" in self.signatures


@dataclass
class Receiver:
    """The received requests, and the next responses; without one it responds 200."""

    url: str = ""
    webhooks: list[Webhook] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    default: int = 200

    @property
    def ids(self) -> list[str]:
        return [webhook.id for webhook in self.webhooks]

    async def receive(self, request: Request) -> Response:
        headers = request.headers
        self.webhooks.append(
            Webhook(
                headers["webhook-id"],
                int(headers["webhook-timestamp"]),
                headers["webhook-signature"].split(" "),
                await request.body(),
                request.url.path,
                headers.get("traceparent"),
            )
        )
        return self.responses.pop(0) if self.responses else PlainTextResponse("received", self.default)


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    async with served(Starlette(routes=[Route("/{path:path}", receiver.receive, methods=["POST"])])) as url:
        receiver.url = url
        yield receiver
