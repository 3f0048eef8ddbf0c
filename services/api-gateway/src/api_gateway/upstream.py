"""The forwarding client: keep-alive connections to one service, on asyncio's protocols and httptools.

Written here because it is the hot path of the product: 26 us of CPU for a leg, where httpx takes 2,600 and aiohttp 105
(docs, performance). It speaks HTTP/1.1 to services of our own and nothing else.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from api_gateway.connection import Chunks, Connection, Gone, UpstreamFailed
from common.process.service import Loop, run_loop

CONNECT_SECONDS_MAX: Final = 2.0
# A request that waits longer for a connection than this is one too many.
QUEUE_SECONDS_MAX: Final = 2.0
QUEUE_MAX: Final = 1_024
# The gateway closes idle connections. A draining service responds for 2 s more (SHUTDOWN_DRAIN_SECONDS), each response as the last one
# of its connection. The idle limit is shorter, so no request is sent on a connection whose process has ended.
IDLE_SECONDS_MAX: Final = 1.5
# Answers that last, of one service: each holds a connection, which the short ones must not miss.
STREAMS_MAX: Final = 2_000
# Deadlines are looked at this often.
SWEEP_SECONDS: Final = 0.25


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
        self._streams: set[Connection] = set()
        self._is_stopping = False
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
        connection = self._claim_idle() or await self._open_one()
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
                connection.cut_off()
                break
            connection.write(chunk)
            connection._wake()
            await connection.drained()

    def _claim_idle(self) -> Connection | None:
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
            self._release_slot()
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
                self._release_slot()
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

    def _release_slot(self) -> None:
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

    def set_apart(self, connection: Connection) -> None:
        """An answer that lasts gives its place among the busy ones to others. Raises UpstreamFailed when too many last."""
        if len(self._streams) >= STREAMS_MAX or self._is_stopping:
            raise UpstreamFailed("too many streams are open")
        self._busy.discard(connection)
        self._streams.add(connection)
        self._release_slot()

    def end_streams(self) -> None:
        """The process stops: what would last for ever ends here, whole, and its clients come back to another process."""
        self._is_stopping = True
        for connection in self._streams:
            connection.end()

    def not_busy(self, connection: Connection) -> None:
        """A connection that is not used again."""
        if connection in self._streams:
            self._streams.discard(connection)
            return
        self._busy.discard(connection)
        if self._queue:
            self._release_slot()

    def forget_idle(self, connection: Connection) -> None:
        with suppress(ValueError):
            self._idle.remove(connection)

    def sweep(self) -> None:
        """Looks at every deadline."""
        now = self.loop.time()
        for connection in [*self._busy, *self._streams]:
            connection.check_deadline(now)
        while self._idle and now - self._idle[0].idle_since > IDLE_SECONDS_MAX:
            self._idle.pop(0).close()

    def close(self) -> None:
        for connection in (*self._idle, *self._busy, *self._streams):
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

    def end_streams(self) -> None:
        """Ends the answers that last, of every service."""
        for upstream in self._by_name.values():
            upstream.end_streams()

    async def close(self) -> None:
        """Closes every connection."""
        self._sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await self._sweeping
        for upstream in self._by_name.values():
            upstream.close()
