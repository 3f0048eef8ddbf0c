"""One keep-alive connection to a service: HTTP/1.1 on asyncio's protocols and httptools."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import httptools

if TYPE_CHECKING:
    from api_gateway.upstream import Upstream

# What may wait in memory between a fast service and a slow client.
BUFFERED_BYTES_MAX: Final = 256 * 1024
# A request that lasts longer is watched for a client that leaves.
SLOW_SECONDS: Final = 0.5

Gone = Callable[[], Awaitable[None]]
Chunks = AsyncIterator[bytes]


class UpstreamFailed(Exception):
    """No answer was had. `nothing_sent`: the service saw nothing of the request. `still_running`: it may be at work on it."""

    def __init__(self, reason: str, *, nothing_sent: bool = False, still_running: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.nothing_sent, self.still_running = reason, nothing_sent, still_running


class ClientGone(Exception):
    """The client left before the answer was complete."""


class Connection(asyncio.Protocol):
    """One connection, and the exchange that it carries at the moment."""

    def __init__(self, upstream: "Upstream") -> None:
        self._upstream = upstream
        self._transport: Any = None
        self._parser: Any = None
        self._waiter: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._watcher: asyncio.Task[None] | None = None
        self._reading_paused = False
        self._reusable = False
        self._is_cut_off = False
        self._began = 0.0
        self._silent_since = 0.0
        self._seconds_max = 0.0
        self.gone: Gone | None = None
        self.idle_since = 0.0
        self.is_open = False
        self.is_reused = False
        self.failure: Exception | None = None
        self._prepare()

    def _prepare(self) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.chunks: deque[bytes] = deque()
        self._buffered = 0
        self.has_head = False
        self.is_complete = False

    # What asyncio calls

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        if self.idle_since:
            # A service that speaks without being asked is out of step: no later answer of it can be believed.
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.fail(UpstreamFailed(f"not HTTP: {error!r}"))

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self._writable.set()
        if self.idle_since:
            self._upstream.forget_idle(self)
        elif not self.is_complete:
            if self.has_head and not self._has_frame():
                self.is_complete = True
                self._wake()
            else:
                self.fail(UpstreamFailed("the connection was lost"))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # What the parser calls

    def on_message_begin(self) -> None:
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status >= 200:
            self.has_head = True
            self._wake()

    def on_body(self, chunk: bytes) -> None:
        self.chunks.append(chunk)
        self._buffered += len(chunk)
        if self._buffered > BUFFERED_BYTES_MAX and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()
        self._wake()

    def on_message_complete(self) -> None:
        if self.status >= 200:
            self.is_complete = True
            self._reusable = self._parser.should_keep_alive()
            self._wake()

    # What the exchange calls

    def begin(self, now: float, seconds_max: float) -> None:
        """Starts an exchange in which the service is never silent for longer than `seconds_max`."""
        self.idle_since = 0.0
        self._reusable = False
        self._is_cut_off = False
        self._began = self._silent_since = now
        self._seconds_max = seconds_max
        self._prepare()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def cut_off(self) -> None:
        """The rest of the request's body is not sent. The service would take the next request for it: there must be none."""
        self._is_cut_off = True

    async def drained(self) -> None:
        """Waits until the service takes more of the body."""
        await self._writable.wait()

    async def head(self) -> None:
        """Waits for status and headers; raises UpstreamFailed or ClientGone."""
        while not self.has_head:
            await self._wait()

    async def next_chunk(self) -> bytes | None:
        """The next piece of the answer's body, or None at its end; raises UpstreamFailed or ClientGone."""
        while not self.chunks:
            if self.is_complete:
                return None
            await self._wait()
        chunk = self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)
        self.chunks.clear()
        self._buffered = 0
        if self._reading_paused:
            self._reading_paused = False
            self._transport.resume_reading()
        return chunk

    def fail(self, error: Exception) -> None:
        """Ends the exchange with an error and closes the connection."""
        if self.failure is None:
            self.failure = error
        self.close()
        self._wake()

    def set_apart(self) -> None:
        """The answer lasts: see `Upstream.set_apart`."""
        self._upstream.set_apart(self)

    def end(self) -> None:
        """Ends an answer that lasts where it stands: its reader finds no more of it."""
        self.is_complete = True
        self.close()
        self._wake()

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def release(self) -> None:
        """Gives the connection back; one whose request was not sent or whose answer was not read to its end is closed."""
        self.gone = None
        if self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None
        if self.is_complete and self._reusable and not self._is_cut_off and self.is_open and not self.chunks:
            self._upstream.give_back(self)
        else:
            self.close()
            self._upstream.not_busy(self)

    def check_deadline(self, now: float) -> None:
        """Called by the sweep: ends an exchange whose service is silent for too long, and watches a slow one's client."""
        if now - self._silent_since > self._seconds_max and not self._reading_paused:
            self.fail(UpstreamFailed("no answer in time", still_running=True))
        elif self._watcher is None and self.gone is not None and now - self._began > SLOW_SECONDS:
            self._watcher = asyncio.create_task(self._watch(self.gone))

    async def _watch(self, gone: Gone) -> None:
        await gone()
        self.fail(ClientGone())

    async def _wait(self) -> None:
        if self.failure is not None:
            raise self.failure
        self._waiter = self._upstream.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        if self.failure is not None:
            raise self.failure

    def _wake(self) -> None:
        self._silent_since = self._upstream.loop.time()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _has_frame(self) -> bool:
        return any(name in (b"content-length", b"transfer-encoding") for name, _ in self.headers)
