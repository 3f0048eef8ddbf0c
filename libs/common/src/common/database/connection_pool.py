"""A pool of asyncpg connections for one role.

asyncpg's own pool releases each connection in a task of its own, which costs a short unit of work a fifth of its speed.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, Self

import asyncpg

from common.database.errors import DRIVER_ERRORS, DatabaseUnavailable
from common.observability.telemetry import DATABASE_CONNECTIONS

# A connection's memory in PostgreSQL grows with its use: after so many uses it is replaced.
USES_MAX: Final = 10_000
IDLE_SECONDS_MAX: Final = 300.0
CLOSE_SECONDS_MAX: Final = 5.0


@dataclass(slots=True, eq=False)
class _Waiting:
    """A caller who waits for a connection."""

    lent: asyncio.Future[asyncpg.Connection]
    is_read: bool


class ConnectionPool:
    """At most `size_max` connections, opened on demand. The most recently used one is lent first.

    One connection opens at a time, and callers take whichever is free first. A new connection costs 20 ms of CPU with
    its first statements; a burst of short units of work is over before several of them have opened.

    Transactions leave `for_reads` connections to reads: commits that wait for a standby would keep all of them.
    """

    def __init__(
        self, connect: Callable[[], Awaitable[asyncpg.Connection]], size_max: int, *, for_reads: int = 0
    ) -> None:
        self.size_max = size_max
        self._transactions_max = size_max - for_reads
        self._transactions: set[asyncpg.Connection] = set()
        self._connect = connect
        # Every open connection with the count of its uses, and the idle ones with the time of their release.
        self._uses: dict[asyncpg.Connection, int] = {}
        self._idle: list[tuple[asyncpg.Connection, float]] = []
        self._waiting: deque[_Waiting] = deque()
        self._opening: asyncio.Task[None] | None = None
        self._all_returned = asyncio.Event()
        self._reaper: asyncio.TimerHandle | None = None
        self._is_closed = False

    def register_metrics(self, role: str) -> None:
        """Let the process' metrics read the pool when they are scraped."""
        DATABASE_CONNECTIONS.labels(role, "in_use").set_function(lambda: self.size - self.idle_size)
        DATABASE_CONNECTIONS.labels(role, "open").set_function(lambda: self.size)
        DATABASE_CONNECTIONS.labels(role, "max").set(self.size_max)

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, connect: Callable[[], Awaitable[asyncpg.Connection]], size_max: int, *, for_reads: int = 0
    ) -> AsyncIterator[Self]:
        """Yield a pool with one open connection; closed at the end. Raises what `connect` raises."""
        pool = cls(connect, size_max, for_reads=for_reads)
        try:
            await pool.release(await pool.acquire())
            yield pool
        finally:
            await pool.close()

    @property
    def size(self) -> int:
        return len(self._uses)

    @property
    def idle_size(self) -> int:
        return len(self._idle)

    async def acquire(self, *, timeout: float | None = None, is_read: bool = False) -> asyncpg.Connection:
        """Return a connection, after at most `timeout` seconds. Raises TimeoutError, InterfaceError, and what `connect`
        raises. `is_read`: for one statement that writes nothing.
        """
        self._check_open()
        while self._idle and self._has_place(is_read):
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return self._given(connection, is_read)
            self._discard(connection)
        lent: asyncio.Future[asyncpg.Connection] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(lent, is_read))
        self._open_if_needed()
        try:
            async with asyncio.timeout(timeout):
                return await lent
        except BaseException:
            if lent.done() and not lent.cancelled() and lent.exception() is None:
                # The connection was lent at the moment of the cancellation.
                self._return(lent.result())
            raise

    async def acquire_available(self, *, timeout: float | None = None, is_read: bool = False) -> asyncpg.Connection:
        """Return a connection as `acquire` does. Raises DatabaseUnavailable, whatever the server rejects: nothing was
        sent.
        """
        try:
            return await self.acquire(timeout=timeout, is_read=is_read)
        except DRIVER_ERRORS as error:
            raise DatabaseUnavailable from error

    async def release(self, connection: asyncpg.Connection) -> None:
        """Return a connection outside of any transaction; a closed or worn-out one is replaced later."""
        self._uses[connection] += 1
        try:
            if self._uses[connection] >= USES_MAX:
                with suppress(*DRIVER_ERRORS):
                    await connection.close(timeout=CLOSE_SECONDS_MAX)
        finally:
            self._return(connection)

    @asynccontextmanager
    async def connection(self, *, timeout: float | None = None) -> AsyncIterator[asyncpg.Connection]:
        """Lends a connection for statements that need no transaction around them. Raises DatabaseUnavailable."""
        connection = await self.acquire_available(timeout=timeout)
        try:
            yield connection
        except (asyncio.CancelledError, TimeoutError):
            # PostgreSQL may still be running the statement.
            connection.terminate()
            raise
        finally:
            await self.release(connection)

    async def close(self) -> None:
        """Wait for lent connections, then closes all. A cancellation closes the lent ones as well."""
        if self._is_closed:
            return
        self._is_closed = True
        for waiting in self._waiting:
            if not waiting.lent.done():
                waiting.lent.set_exception(asyncpg.InterfaceError("pool is closed"))
        self._waiting.clear()
        try:
            if self._opening is not None:
                self._opening.cancel()
                await asyncio.wait([self._opening])
            if self.size > self.idle_size:
                await self._all_returned.wait()
            for connection, _ in self._idle:
                with suppress(*DRIVER_ERRORS):
                    await connection.close(timeout=CLOSE_SECONDS_MAX)
        finally:
            for connection in list(self._uses):
                self._discard(connection)
            self._idle.clear()
            if self._reaper is not None:
                self._reaper.cancel()

    def _check_open(self) -> None:
        if self._is_closed:
            raise asyncpg.InterfaceError("pool is closed")

    def _has_place(self, is_read: bool) -> bool:
        return is_read or len(self._transactions) < self._transactions_max

    def _given(self, connection: asyncpg.Connection, is_read: bool) -> asyncpg.Connection:
        if not is_read:
            self._transactions.add(connection)
        return connection

    def _return(self, connection: asyncpg.Connection) -> None:
        self._transactions.discard(connection)
        self._lend(connection)

    def _lend(self, connection: asyncpg.Connection) -> None:
        """Keep the connection idle, and lend what is idle to the callers who wait longest."""
        self._idle.append((connection, time.monotonic()))
        while self._idle:
            last, _ = self._idle[-1]
            if not last.is_closed():
                if (waiting := self._next_waiting()) is None:
                    break
                waiting.lent.set_result(self._given(last, waiting.is_read))
            else:
                self._discard(last)
            self._idle.pop()
        if self._idle and self._reaper is None and not self._is_closed:
            self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS_MAX, self._close_idle)
        self._open_if_needed()
        if self._is_closed and self.size == self.idle_size:
            self._all_returned.set()

    def _next_waiting(self) -> _Waiting | None:
        """Return the caller who waits longest and has a place, and remove it."""
        while self._waiting and self._waiting[0].lent.done():
            self._waiting.popleft()
        for waiting in self._waiting:
            if self._needs_connection(waiting):
                self._waiting.remove(waiting)
                return waiting
        return None

    def _open_if_needed(self) -> None:
        if self._opening is None and self.size < self.size_max and any(map(self._needs_connection, self._waiting)):
            self._opening = asyncio.create_task(self._open())

    def _needs_connection(self, waiting: _Waiting) -> bool:
        return not waiting.lent.done() and self._has_place(waiting.is_read)

    async def _open(self) -> None:
        """Open one connection. A failure is the result of the caller who waits longest; the next one tries again."""
        try:
            connection = await self._connect()
        except Exception as error:
            if (waiting := self._next_waiting()) is not None:
                waiting.lent.set_exception(error)
        else:
            self._uses[connection] = 0
            self._lend(connection)
        finally:
            self._opening = None
        self._open_if_needed()

    def _discard(self, connection: asyncpg.Connection) -> None:
        connection.terminate()
        self._uses.pop(connection, None)

    def _close_idle(self) -> None:
        self._reaper = None
        limit = time.monotonic() - IDLE_SECONDS_MAX
        while self._idle and self._idle[0][1] <= limit:
            self._discard(self._idle.pop(0)[0])
        if self._idle:
            delay = max(0.0, self._idle[0][1] - limit)
            self._reaper = asyncio.get_running_loop().call_later(delay, self._close_idle)
