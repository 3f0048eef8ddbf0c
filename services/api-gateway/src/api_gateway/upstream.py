"""The forwarding client: keep-alive connections to one service, on asyncio's protocols and httptools.

Written here because it is the hot path of the product: 26 us of CPU for a leg, where httpx takes 2,600 and aiohttp 105
(docs, performance). It speaks HTTP/1.1 to services of our own and nothing else.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import httptools

from common.process import Loop, run_loop

CONNECT_SECONDS_MAX: Final = 2.0
# A request that waits longer for a connection than this is one too many.
QUEUE_SECONDS_MAX: Final = 2.0
QUEUE_MAX: Final = 1_024
# Shorter than the services keep an idle connection (75 s), so that ours is the end that closes it.
IDLE_SECONDS_MAX: Final = 50.0
# What may wait in memory between a fast service and a slow client.
BUFFERED_BYTES_MAX: Final = 256 * 1024
# Deadlines are looked at this often; a request that lasts longer than SLOW_SECONDS is watched for a client that leaves.
SWEEP_SECONDS: Final = 0.25
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
        self._began = self._silent_since = now
        self._seconds_max = seconds_max
        self._prepare()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

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

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def release(self) -> None:
        """Gives the connection back; one whose answer was not read to its end is closed."""
        self.gone = None
        if self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None
        if self.is_complete and self._reusable and self.is_open and not self.chunks:
            self._upstream.give_back(self)
        else:
            self.close()
            self._upstream.not_busy(self)

    def look_at_deadline(self, now: float) -> None:
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


class Upstream:
    """The connections to one service: at most `connections_max`, the last used one first."""

    def __init__(self, name: str, url: str, connections_max: int) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"{name}: the address of a service is http://host:port, not {url!r}")
        self.name = name
        self._host, self._port = parts.hostname, parts.port or 80
        self.host_header = parts.netloc.encode()
        self._connections_max = connections_max
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._opening = 0
        self._queue: deque[asyncio.Future[Connection | None]] = deque()
        self.loop = asyncio.get_running_loop()

    async def ask(
        self, head: bytes, body: bytes | Chunks, *, seconds_max: float, may_repeat: bool, gone: Gone | None = None
    ) -> Connection:
        """Sends a request and waits for the head of its answer. The caller reads the body and releases the connection.

        `may_repeat`: whether a request may be sent again when a kept connection died before a byte of its answer came.
        `gone` returns when the client has left; then ClientGone is raised. Raises UpstreamFailed.
        """
        connection = self._take_idle() or await self._open_one()
        try:
            return await self._exchange(connection, head, body, seconds_max, gone)
        except UpstreamFailed as failure:
            if not (may_repeat and connection.is_reused and not connection.status and not failure.still_running):
                raise
        fresh = await self._open_one()
        return await self._exchange(fresh, head, body, seconds_max, gone)

    async def _exchange(
        self, connection: Connection, head: bytes, body: bytes | Chunks, seconds_max: float, gone: Gone | None
    ) -> Connection:
        connection.begin(self.loop.time(), seconds_max)
        self._busy.add(connection)
        try:
            if isinstance(body, bytes):
                connection.write(head + body if body else head)
            else:
                connection.write(head)
                await self._send_chunks(connection, body)
            connection.gone = gone
            await connection.head()
        except BaseException:
            connection.close()
            connection.release()
            raise
        return connection

    async def _send_chunks(self, connection: Connection, chunks: Chunks) -> None:
        """Streams a body. A service that answers before the end wants no more of it."""
        async for chunk in chunks:
            if connection.has_head or connection.failure is not None:
                break
            connection.write(chunk)
            connection._wake()
            await connection.drained()

    def _take_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                connection.is_reused = True
                return connection
        return None

    async def _open_one(self) -> Connection:
        if len(self._busy) + self._opening < self._connections_max:
            self._opening += 1
        else:
            given = await self._queued()
            if given is not None:
                if given.is_open:
                    return given
                self._busy.discard(given)
                self._opening += 1
        try:
            async with asyncio.timeout(CONNECT_SECONDS_MAX):
                _, connection = await self.loop.create_connection(lambda: Connection(self), self._host, self._port)
        except BaseException as error:
            self._opening -= 1
            self._give_place()
            if isinstance(error, OSError | TimeoutError):
                raise UpstreamFailed(f"not reached: {error!r}", nothing_sent=True) from error
            raise
        self._opening -= 1
        return connection

    async def _queued(self) -> Connection | None:
        """Waits for a connection that another request gives back; None: a place to open one is reserved."""
        if len(self._queue) >= QUEUE_MAX:
            raise UpstreamFailed("too many requests wait", nothing_sent=True)
        place: asyncio.Future[Connection | None] = self.loop.create_future()
        self._queue.append(place)
        try:
            async with asyncio.timeout(QUEUE_SECONDS_MAX):
                return await place
        except BaseException as error:
            self._leave_queue(place)
            if isinstance(error, TimeoutError):
                raise UpstreamFailed("no connection became free", nothing_sent=True) from error
            raise

    def _leave_queue(self, place: "asyncio.Future[Connection | None]") -> None:
        """A request that waits no more; what it was given at the last moment goes to the next one."""
        if place.done() and not place.cancelled():
            given = place.result()
            if given is None:
                self._opening -= 1
                self._give_place()
            else:
                self.give_back(given)
        else:
            with suppress(ValueError):
                self._queue.remove(place)

    def _hand_over(self, connection: Connection | None) -> bool:
        while self._queue:
            place = self._queue.popleft()
            if not place.done():
                place.set_result(connection)
                return True
        return False

    def _give_place(self) -> None:
        """The first in the queue may open a connection; its place counts from now on."""
        if self._hand_over(None):
            self._opening += 1

    def give_back(self, connection: Connection) -> None:
        """A connection whose exchange ended well: to the first in the queue, for whom it stays busy, or kept."""
        connection.is_reused = True
        if self._queue and self._hand_over(connection):
            return
        self._busy.discard(connection)
        connection.idle_since = self.loop.time()
        self._idle.append(connection)

    def not_busy(self, connection: Connection) -> None:
        """A connection that is not used again."""
        self._busy.discard(connection)
        if self._queue:
            self._give_place()

    def forget_idle(self, connection: Connection) -> None:
        with suppress(ValueError):
            self._idle.remove(connection)

    def sweep(self) -> None:
        """Looks at every deadline."""
        now = self.loop.time()
        for connection in [*self._busy]:
            connection.look_at_deadline(now)
        while self._idle and now - self._idle[0].idle_since > IDLE_SECONDS_MAX:
            self._idle.pop(0).close()

    def close(self) -> None:
        for connection in (*self._idle, *self._busy):
            connection.close()
        self._idle.clear()


class Upstreams:
    """The services behind the gateway by name, with the sweep over their deadlines."""

    def __init__(self, addresses: dict[str, str], connections_max: int) -> None:
        self._by_name = {name: Upstream(name, url, connections_max) for name, url in addresses.items()}
        self._sweeping = asyncio.create_task(run_loop(Loop("upstream deadlines", self._sweep_once, SWEEP_SECONDS)))

    def __getitem__(self, name: str) -> Upstream:
        return self._by_name[name]

    async def _sweep_once(self) -> None:
        for upstream in self._by_name.values():
            upstream.sweep()

    async def close(self) -> None:
        """Closes every connection."""
        self._sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await self._sweeping
        for upstream in self._by_name.values():
            upstream.close()
