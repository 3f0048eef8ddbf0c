"""Parsing of requests and encoding of responses, common to all providers."""

import asyncio
import time
from contextlib import suppress
from email.utils import formatdate
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Above any request that the protocols define, below what would hurt a developer's machine.
BODY_BYTES_MAX = 8 * 1024 * 1024

# A call without a response is closed after this time, so that forgotten faults do not accumulate connections.
HOLD_SECONDS_MAX = 600.0


class RefusedError(Exception):
    """An error response: `status`, `message` and `code` become the gateway's error envelope."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


class JsonResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return msgspec.json.encode(content)


def ok(message: str, data: Any, status: int = 200, meta: Any = None) -> Response:
    """Return the gateway's envelope of a success."""
    body = {"status": True, "message": message, "data": data}
    if meta is not None:
        body["meta"] = meta
    return JsonResponse(body, status)


def refused(status: int, message: str, code: str | None = None) -> Response:
    """Return the gateway's envelope of an error; the older ones have no code."""
    body: dict[str, Any] = {"status": False, "message": message}
    if code is not None:
        body |= {"meta": {"nextStep": "Check the request"}, "type": "validation_error", "code": code}
    return JsonResponse(body, status)


async def read_body(request: Request) -> bytes:
    """Return the raw body; raises RefusedError 413 above BODY_BYTES_MAX."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > BODY_BYTES_MAX:
            raise RefusedError(413, "Request body too large")
        pieces.append(piece)
    return b"".join(pieces)


async def read_json(request: Request) -> dict[str, Any]:
    """Return the body as a JSON object; raises RefusedError 400 for anything else."""
    body = await read_body(request)
    try:
        parsed = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RefusedError(400, "Request body is no valid JSON") from None
    if not isinstance(parsed, dict):
        raise RefusedError(400, "Request body must be a JSON object")
    return parsed


class DateHeader:
    """Middleware that sets `Date`, ahead by the setting `clock_skew_seconds`; the HTTP server must set none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                skew_seconds = scope["app"].state.world.switches.clock_skew_seconds
                date = formatdate(time.time() + skew_seconds, usegmt=True).encode()
                message = {**message, "headers": [*message.get("headers", ()), (b"date", date)]}
            await send(message)

        await self._app(scope, receive, send_dated)


async def hold(request: Request, seconds: float | None) -> None:
    """Delays the response for `seconds`, or (None) until the caller disconnects."""

    async def caller_hangs_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    with suppress(TimeoutError):
        await asyncio.wait_for(caller_hangs_up(), HOLD_SECONDS_MAX if seconds is None else seconds)
