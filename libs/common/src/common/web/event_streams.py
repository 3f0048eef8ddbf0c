"""Answers that last: server-sent events, written as they happen and never kept for a reader who does not read."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Final

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from common.observability.logging import get_logger

log = get_logger(__name__)

# A reader whose connection takes nothing for this long is gone, or too slow for what happens.
SLOW_READER_SECONDS: Final = 20.0
# Kept by no cache, and passed on at once by a proxy that would collect it.
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
PING: Final = b": ping\n\n"


def event_bytes(event: str, payload: Any, *, event_id: str | None = None) -> bytes:
    """One event with a JSON payload. JSON has no line break of its own, so the payload is one line."""
    head = f"event: {event}\n" if event_id is None else f"event: {event}\nid: {event_id}\n"
    return head.encode() + b"data: " + msgspec.json.encode(payload) + b"\n\n"


class EventStream(StreamingResponse):
    """`text/event-stream` from a generator of whole events.

    `on_end` is called once the answer is over, however it ended. What the transport holds (64 KiB) is all that is kept for a
    slow reader: one whose connection takes nothing for `slow_reader_seconds` is cut off, and comes back with its
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
            # The answer is left without its end: its server closes the connection.
            log.warning("event stream cut off: its reader does not read")
            return False
        return True
