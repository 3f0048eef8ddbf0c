"""A pool of asyncpg connections for one role.

asyncpg's own pool releases each connection in a task of its own, which costs a short unit of work a fifth of its speed.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, Self

import asyncpg

# A connection's memory in PostgreSQL grows with its use: after so many uses it is replaced.
USES_MAX: Final = 10_000
IDLE_SECONDS_MAX: Final = 300.0
CLOSE_SECONDS_MAX: Final = 5.0


class ConnectionPool:
    """At most `size_max` connections, opened on demand. The most recently used one is lent first."""

    def __init__(self, connect: Callable[[], Awaitable[asyncpg.Connection]], size_max: int) -> None:
        self.size_max = size_max
        self._connect = connect
        self._slots = asyncio.Semaphore(size_max)
        # Every open connection with the count of its uses, and the idle ones with the time of their release.
        self._uses: dict[asyncpg.Connection, int] = {}
        self._idle: list[tuple[asyncpg.Connection, float]] = []
        self._reaper: asyncio.TimerHandle | None = None
        self._is_closed = False

    @classmethod
    @asynccontextmanager
    async def opened(cls, connect: Callable[[], Awaitable[asyncpg.Connection]], size_max: int) -> AsyncIterator[Self]:
        """A pool with one open connection; closed at the end. Raises what `connect` raises."""
        pool = cls(connect, size_max)
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

    async def acquire(self, *, timeout: float | None = None) -> asyncpg.Connection:
        """A connection, after at most `timeout` seconds. Raises TimeoutError, InterfaceError, and what `connect` raises."""
        self._check_open()
        if self._slots.locked() and timeout is not None:
            async with asyncio.timeout(timeout):
                await self._slots.acquire()
        else:
            await self._slots.acquire()
        try:
            self._check_open()
            while self._idle:
                connection, _ = self._idle.pop()
                if not connection.is_closed():
                    return connection
                self._discard(connection)
            connection = await self._connect()
        except BaseException:
            self._slots.release()
            raise
        self._uses[connection] = 0
        return connection

    async def release(self, connection: asyncpg.Connection) -> None:
        """Returns a connection outside of any transaction; a closed or worn-out one is replaced later."""
        self._uses[connection] += 1
        try:
            if self._uses[connection] >= USES_MAX:
                with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                    await connection.close(timeout=CLOSE_SECONDS_MAX)
        finally:
            if connection.is_closed():
                self._discard(connection)
            else:
                self._idle.append((connection, time.monotonic()))
                if self._reaper is None:
                    self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS_MAX, self._close_idle)
            self._slots.release()

    @asynccontextmanager
    async def connection(self, *, timeout: float | None = None) -> AsyncIterator[asyncpg.Connection]:
        """Lends a connection for statements that need no transaction around them. Raises as `acquire` does."""
        connection = await self.acquire(timeout=timeout)
        try:
            yield connection
        except (asyncio.CancelledError, TimeoutError):
            # PostgreSQL may still be running the statement.
            connection.terminate()
            raise
        finally:
            await self.release(connection)

    async def close(self) -> None:
        """Waits for lent connections, then closes all. A cancellation closes the lent ones as well."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            for _ in range(self.size_max):
                await self._slots.acquire()
            for connection in list(self._uses):
                with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
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
