"""One keep-alive connection to a service: HTTP/1.1 on asyncio's protocols and httptools."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, Protocol

import httptools

# Bytes buffered between a fast service and a slow client.
BUFFERED_BYTES_MAX: Final = 256 * 1024
# A longer request is watched for a client disconnect.
SLOW_SECONDS: Final = 0.5

DisconnectWatcher = Callable[[], Awaitable[None]]
Chunks = AsyncIterator[bytes]


class UpstreamFailed(Exception):
    """The service did not respond. `nothing_sent`: it received nothing. `still_running`: it may still process the
    request.
    """

    def __init__(self, reason: str, *, nothing_sent: bool = False, still_running: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.nothing_sent, self.still_running = reason, nothing_sent, still_running


class ClientDisconnected(Exception):
    """The client disconnected before the response was complete."""


class ConnectionPool(Protocol):
    """The owner of a connection: `Upstream`."""

    loop: asyncio.AbstractEventLoop

    def remove_idle(self, connection: "Connection") -> None: ...

    def mark_as_stream(self, connection: "Connection") -> None: ...

    def return_connection(self, connection: "Connection") -> None: ...

    def discard_busy(self, connection: "Connection") -> None: ...


class Connection(asyncio.Protocol):
    """A connection and its current exchange."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._transport: Any = None
        self._parser: Any = None
        self._waiter: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._watcher: asyncio.Task[None] | None = None
        self._reading_paused = False
        self._reusable = False
        self._is_cut_off = False
        self._started_at = 0.0
        self._idle_since = 0.0
        self._seconds_max = 0.0
        self.disconnected: DisconnectWatcher | None = None
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

    # Called by asyncio

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        if self.idle_since:
            # A service that sends data without a request is out of step: no later response is reliable.
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.fail(UpstreamFailed(f"not HTTP: {error!r}"))
        else:
            # Once for all that the parser has found in one read.
            self.wake()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self._writable.set()
        if self.idle_since:
            self._pool.remove_idle(self)
        elif not self.is_complete:
            if self.has_head and not self._has_frame():
                self.is_complete = True
                self.wake()
            else:
                self.fail(UpstreamFailed("the connection was lost"))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # Called by the parser

    def on_message_begin(self) -> None:
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status >= 200:
            self.has_head = True

    def on_body(self, chunk: bytes) -> None:
        self.chunks.append(chunk)
        self._buffered += len(chunk)
        if self._buffered > BUFFERED_BYTES_MAX and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self.status >= 200:
            self.is_complete = True
            self._reusable = self._parser.should_keep_alive()

    # Called by the exchange

    def start_exchange(self, now: float, seconds_max: float) -> None:
        """Start an exchange in which the service never pauses for longer than `seconds_max`."""
        self.idle_since = 0.0
        self._reusable = False
        self._is_cut_off = False
        self._started_at = self._idle_since = now
        self._seconds_max = seconds_max
        self._prepare()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def cut_off(self) -> None:
        """Stop sending the request's body. The connection cannot be reused: the service would parse the next request as
        body.
        """
        self._is_cut_off = True

    async def drained(self) -> None:
        """Wait until the service reads more of the body."""
        await self._writable.wait()

    async def head(self) -> None:
        """Wait for status and headers. Raises UpstreamFailed and ClientDisconnected."""
        while not self.has_head:
            await self._wait()

    async def next_chunk(self) -> bytes | None:
        """Return the next chunk of the response's body, None at its end. Raises UpstreamFailed and
        ClientDisconnected.
        """
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
        """End the exchange with an error and close the connection."""
        if self.failure is None:
            self.failure = error
        self.close()
        self.wake()

    def mark_as_stream(self) -> None:
        """Mark the response as a stream: see `Upstream.mark_as_stream`."""
        self._pool.mark_as_stream(self)

    def end(self) -> None:
        """End a stream: its reader gets no more of it."""
        self.is_complete = True
        self.close()
        self.wake()

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def release(self) -> None:
        """Return the connection to the pool; close it if its request or response is incomplete."""
        self.disconnected = None
        if self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None
        if self.is_complete and self._reusable and not self._is_cut_off and self.is_open and not self.chunks:
            self._pool.return_connection(self)
        else:
            self.close()
            self._pool.discard_busy(self)

    def check_deadline(self, now: float) -> None:
        """End an exchange whose service has timed out, and watch the client of a slow one. The sweep calls
        it.
        """
        if now - self._idle_since > self._seconds_max and not self._reading_paused:
            self.fail(UpstreamFailed("no response in time", still_running=True))
        elif self._watcher is None and self.disconnected is not None and now - self._started_at > SLOW_SECONDS:
            self._watcher = asyncio.create_task(self._watch(self.disconnected))

    async def _watch(self, disconnected: DisconnectWatcher) -> None:
        await disconnected()
        self.fail(ClientDisconnected())

    async def _wait(self) -> None:
        if self.failure is not None:
            raise self.failure
        self._waiter = self._pool.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        if self.failure is not None:
            raise self.failure

    def wake(self) -> None:
        self._idle_since = self._pool.loop.time()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _has_frame(self) -> bool:
        return any(name in (b"content-length", b"transfer-encoding") for name, _ in self.headers)
