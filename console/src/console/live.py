"""Live numbers: a page's own address as server-sent events, for `Accept: text/event-stream`.

A stream repeats the read of its page under the same checks, and sends numbers alone: nothing that is read moves. It
ends long before an access token does, because a response that has begun can set no cookie; the browser opens it again.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from starlette.responses import Response, StreamingResponse

from console.api import ApiProblem, Json, SessionEnded
from console.visit import Visit

MEDIA_TYPE: Final = "text/event-stream"
READ_EVERY_SECONDS: Final = 10.0
"""A list is read six times a minute: 1 % of the quota of a member of staff."""
READS_MAX: Final = 24
_OPEN_AGAIN_MS: Final = 5_000

Read = Callable[[], Awaitable[Json]]


class Streams:
    """The open streams of a process: all end at its shutdown."""

    def __init__(self, read_every_seconds: float = READ_EVERY_SECONDS) -> None:
        self.read_every_seconds = read_every_seconds
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self._stopped.set()

    async def wait(self) -> bool:
        """Wait until the next read. Return whether the streams go on."""
        try:
            await asyncio.wait_for(self._stopped.wait(), self.read_every_seconds)
        except TimeoutError:
            return True
        return False


def wants_events(visit: Visit) -> bool:
    """Return whether the browser opens the page's stream."""
    return MEDIA_TYPE in visit.request.headers.get("accept", "")


def response_to_stream(visit: Visit, response: Response) -> Response:
    """Return 204 in place of a page to a browser that opens a stream, which then opens none again: the page has none,
    refuses it, or the session ended.
    """
    return Response(status_code=204) if wants_events(visit) and response.media_type != MEDIA_TYPE else response


def event_stream(visit: Visit, read: Read) -> Response:
    """Return the numbers of `read` as events, when they change. The script of the pages shows `new` and `counts`."""
    return StreamingResponse(_events(visit, read), media_type=MEDIA_TYPE)


async def _events(visit: Visit, read: Read) -> AsyncIterator[str]:
    streams: Streams = visit.request.app.state.streams
    visit.api.keeps_tokens = True
    yield f"retry: {_OPEN_AGAIN_MS}\n\n"
    sent: Json | None = None
    for _ in range(READS_MAX):
        try:
            numbers = await read()
        except (ApiProblem, SessionEnded):
            return
        if numbers != sent:
            sent = numbers
            yield f"data: {json.dumps(numbers)}\n\n"
        else:
            # A proxy ends a connection without bytes.
            yield ":\n\n"
        if not await streams.wait():
            return
