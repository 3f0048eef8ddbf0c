"""The forwarding client: keep-alive connections to one service, on asyncio's protocols and httptools.

The hot path of the product: 26 us of CPU for a request, where httpx takes 2,600 and aiohttp 105 (docs, performance). It
supports HTTP/1.1 to the project's own services and nothing else.
"""

import asyncio
import ssl
from collections import deque
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from api_gateway.connection import Chunks, Connection, DisconnectWatcher, UpstreamFailed
from api_gateway.limits import LIMITS, EdgeLimits
from common.primitives.tls import client_tls
from common.process.loops import Loop, run_loop

QUEUE_MAX: Final = 1_024
# Streams of one service: each holds a connection, so they must not use up those of short requests.
STREAMS_MAX: Final = 2_000
# The interval of deadline checks.
SWEEP_SECONDS: Final = 0.25


class Upstream:
    """The connections to one service: at most `connections_max`, the most recently used first."""

    def __init__(
        self, name: str, url: str, connections_max: int, limits: EdgeLimits = LIMITS, tls: ssl.SSLContext | None = None
    ) -> None:
        """`tls` verifies a service with an address of https; None: the public authorities."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{name}: the address of a service is http(s)://host:port, not {url!r}")
        self.name = name
        self._tls = (tls or client_tls()) if parts.scheme == "https" else None
        self._host, self._port = parts.hostname, parts.port or (443 if self._tls else 80)
        self.host_header = parts.netloc.encode()
        self._connections_max, self._limits = connections_max, limits
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._streams: set[Connection] = set()
        self._is_stopping = False
        self._opening = 0
        self._queue: deque[asyncio.Future[Connection | None]] = deque()
        self.loop = asyncio.get_running_loop()

    async def send_request(
        self,
        head: bytes,
        body: bytes | Chunks,
        *,
        seconds_max: float,
        may_repeat: bool,
        disconnected: DisconnectWatcher | None = None,
    ) -> Connection:
        """Send a request and wait for the head of its response. The caller reads the body and releases the connection.

        `may_repeat`: whether to retry when a reused connection fails before the first byte of the response.
        `disconnected` returns when the client has disconnected; then ClientDisconnected is raised. Raises
        UpstreamFailed.
        """
        connection = self._claim_idle() or await self._open_one()
        try:
            return await self._exchange(connection, head, body, seconds_max, disconnected)
        except UpstreamFailed as failure:
            if not (may_repeat and connection.is_reused and not connection.status and not failure.still_running):
                raise
        fresh = await self._open_one()
        return await self._exchange(fresh, head, body, seconds_max, disconnected)

    async def _exchange(
        self,
        connection: Connection,
        head: bytes,
        body: bytes | Chunks,
        seconds_max: float,
        disconnected: DisconnectWatcher | None,
    ) -> Connection:
        connection.start_exchange(self.loop.time(), seconds_max)
        self._busy.add(connection)
        try:
            if isinstance(body, bytes):
                connection.write(head + body if body else head)
            else:
                connection.write(head)
                await self._send_chunks(connection, body)
            connection.disconnected = disconnected
            await connection.head()
        except BaseException:
            connection.close()
            connection.release()
            raise
        return connection

    async def _send_chunks(self, connection: Connection, chunks: Chunks) -> None:
        """Stream a body. A service that responds before its end needs no more of it."""
        async for chunk in chunks:
            if connection.has_head or connection.failure is not None:
                connection.cut_off()
                break
            connection.write(chunk)
            connection.wake()
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
            given = await self._wait_for_slot()
            if given is not None:
                if given.is_open:
                    return given
                self._busy.discard(given)
                self._opening += 1
        try:
            async with asyncio.timeout(self._limits.connect_seconds_max):
                _, connection = await self.loop.create_connection(
                    lambda: Connection(self), self._host, self._port, ssl=self._tls
                )
        except BaseException as error:
            self._opening -= 1
            self._release_slot()
            if isinstance(error, OSError | TimeoutError):
                raise UpstreamFailed(f"connection failed: {error!r}", nothing_sent=True) from error
            raise
        self._opening -= 1
        return connection

    async def _wait_for_slot(self) -> Connection | None:
        """Wait for a connection that another request returns; None: a slot to open one is reserved."""
        if len(self._queue) >= QUEUE_MAX:
            raise UpstreamFailed("too many requests wait for a connection", nothing_sent=True)
        slot: asyncio.Future[Connection | None] = self.loop.create_future()
        self._queue.append(slot)
        try:
            async with asyncio.timeout(self._limits.queue_seconds_max):
                return await slot
        except BaseException as error:
            self._cancel_waiting(slot)
            if isinstance(error, TimeoutError):
                raise UpstreamFailed("no connection became free", nothing_sent=True) from error
            raise

    def _cancel_waiting(self, slot: "asyncio.Future[Connection | None]") -> None:
        """Remove a request from the queue; a connection assigned at the last moment goes to the next one."""
        if slot.done() and not slot.cancelled():
            given = slot.result()
            if given is None:
                self._opening -= 1
                self._release_slot()
            else:
                self.return_connection(given)
        else:
            with suppress(ValueError):
                self._queue.remove(slot)

    def _assign(self, connection: Connection | None) -> bool:
        while self._queue:
            slot = self._queue.popleft()
            if not slot.done():
                slot.set_result(connection)
                return True
        return False

    def _release_slot(self) -> None:
        """Let the first in the queue open a connection; its slot counts from now on."""
        if self._assign(None):
            self._opening += 1

    def return_connection(self, connection: Connection) -> None:
        """Assign a reusable connection to the first in the queue, for which it stays busy, or keep it idle."""
        connection.is_reused = True
        if self._queue and self._assign(connection):
            return
        self._busy.discard(connection)
        connection.idle_since = self.loop.time()
        self._idle.append(connection)

    def mark_as_stream(self, connection: Connection) -> None:
        """Release the slot of a stream's connection. Raises UpstreamFailed when too many streams are open."""
        if len(self._streams) >= STREAMS_MAX or self._is_stopping:
            raise UpstreamFailed("too many streams are open")
        self._busy.discard(connection)
        self._streams.add(connection)
        self._release_slot()

    def close_streams(self) -> None:
        """End every stream completely at shutdown; its clients reconnect to another process."""
        self._is_stopping = True
        for connection in self._streams:
            connection.end()

    def discard_busy(self, connection: Connection) -> None:
        """Remove a connection that is not reused."""
        if connection in self._streams:
            self._streams.discard(connection)
            return
        self._busy.discard(connection)
        if self._queue:
            self._release_slot()

    def remove_idle(self, connection: Connection) -> None:
        with suppress(ValueError):
            self._idle.remove(connection)

    def sweep(self) -> None:
        """Check every deadline."""
        now = self.loop.time()
        for connection in [*self._busy, *self._streams]:
            connection.check_deadline(now)
        while self._idle and now - self._idle[0].idle_since > self._limits.idle_seconds_max:
            self._idle.pop(0).close()

    def close(self) -> None:
        for connection in (*self._idle, *self._busy, *self._streams):
            connection.close()
        self._idle.clear()


class Upstreams:
    """The services by name, with the periodic check of their deadlines."""

    def __init__(
        self,
        addresses: dict[str, str],
        connections_max: int,
        limits: EdgeLimits = LIMITS,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._by_name = {name: Upstream(name, url, connections_max, limits, tls) for name, url in addresses.items()}
        self._sweeping = asyncio.create_task(run_loop(Loop("close-late-upstreams", self._sweep_once, SWEEP_SECONDS)))

    def __getitem__(self, name: str) -> Upstream:
        return self._by_name[name]

    async def _sweep_once(self) -> None:
        for upstream in self._by_name.values():
            upstream.sweep()

    def close_streams(self) -> None:
        """End the streams of every service."""
        for upstream in self._by_name.values():
            upstream.close_streams()

    async def close(self) -> None:
        """Close every connection."""
        self._sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await self._sweeping
        for upstream in self._by_name.values():
            upstream.close()
