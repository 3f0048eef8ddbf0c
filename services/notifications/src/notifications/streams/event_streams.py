"""Responses of server-sent events, written as they happen and never buffered for a slow client."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from common.observability.logging import get_logger

log = get_logger(__name__)

# A client whose connection accepts no data for this long is disconnected or too slow.
SLOW_READER_SECONDS: Final = 20.0
# No caching, and no buffering in proxies.
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
PING: Final = b": ping\n\n"


def event_bytes(event: str, payload: object, *, event_id: str | None = None) -> bytes:
    """One event with a JSON payload. Encoded JSON has no line breaks, so the payload is one line."""
    head = f"event: {event}\n" if event_id is None else f"event: {event}\nid: {event_id}\n"
    return head.encode() + b"data: " + msgspec.json.encode(payload) + b"\n\n"


class EventStream(StreamingResponse):
    """`text/event-stream` from a generator of whole events.

    `on_end` is called when the response has ended, for whatever reason. Only the transport's 64 KiB are buffered. A
    client whose connection accepts no data for `slow_reader_seconds` is disconnected, and reconnects with its
    Last-Event-ID.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[bytes],
        *,
        on_end: Callable[[], None] = lambda: None,
        slow_reader_seconds: float = SLOW_READER_SECONDS,
        # FastAPI reads the documented status from this signature.
        status_code: int = 200,
    ) -> None:
        super().__init__(events, status_code, headers=_HEADERS)
        self._events, self._on_end, self._slow_reader_seconds = events, on_end, slow_reader_seconds

    async def stream_response(self, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with aclosing(self._events) as events:
                async for event in events:
                    if not await self._is_sent(send, {"type": "http.response.body", "body": event, "more_body": True}):
                        return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._on_end()

    async def _is_sent(self, send: Send, message: Message) -> bool:
        try:
            async with asyncio.timeout(self._slow_reader_seconds):
                await send(message)
        except TimeoutError:
            # The response stays incomplete, so the server closes the connection.
            log.warning("event stream closed: its client does not read")
            return False
        return True
