"""The connection pool replaces what cannot be used again, and closes in order."""

import asyncio
from functools import partial

import asyncpg
import pytest

from common.auth.caller import THE_SERVICE, Caller
from common.database import connection_pool
from common.database.connection_pool import ConnectionPool
from common.database.unit_of_work import CONNECTIONS_FOR_READS, POOL_CONNECTIONS_MAX, UnitOfWork
from common.primitives.ids import new_id
from testkit.fixtures import eventually

from .breaking_connection import BreakingConnection
from .conftest import Mechanisms

TRANSACTIONS_MAX = POOL_CONNECTIONS_MAX - CONNECTIONS_FOR_READS


@pytest.fixture
def connect(mechanisms: Mechanisms):
    return lambda: asyncpg.connect(mechanisms.urls.service)


async def test_a_connection_is_lent_again(connect) -> None:
    async with ConnectionPool.opened(connect, 2) as pool:
        async with pool.connection() as first:
            pass
        async with pool.connection() as second:
            assert second is first
        assert (pool.size, pool.idle_size) == (1, 1)


async def test_a_broken_connection_is_replaced(connect) -> None:
    async with ConnectionPool.opened(connect, 1) as pool:
        async with pool.connection() as broken:
            broken.terminate()
        assert pool.size == 0
        async with pool.connection() as fresh:
            assert await fresh.fetchval("SELECT 1") == 1


async def test_a_connection_is_replaced_after_its_maximum_of_uses(connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "USES_MAX", 2)
    async with ConnectionPool.opened(connect, 1) as pool:
        async with pool.connection() as worn_out:
            pass
        assert worn_out.is_closed()
        async with pool.connection() as fresh:
            assert await fresh.fetchval("SELECT 1") == 1


async def test_a_worn_out_connection_that_breaks_while_it_closes_fails_no_work(
    mechanisms: Mechanisms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_pool, "USES_MAX", 2)
    connect = partial(asyncpg.connect, mechanisms.urls.service, connection_class=BreakingConnection)
    async with ConnectionPool.opened(connect, 1) as pool:
        async with pool.connection() as worn_out:
            assert await worn_out.fetchval("SELECT 1") == 1
        assert worn_out.is_closed()


async def test_an_idle_connection_is_closed_after_its_time(connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "IDLE_SECONDS_MAX", 0.01)
    async with ConnectionPool.opened(connect, 1) as pool:
        await eventually(lambda: pool.size == 0)


async def test_closing_waits_for_a_lent_connection(connect) -> None:
    async with ConnectionPool.opened(connect, 1) as pool:
        async with pool.connection() as lent:
            closing = asyncio.create_task(pool.close())
            assert await lent.fetchval("SELECT 1") == 1
        await closing
        assert lent.is_closed()


async def test_a_closed_pool_rejects_acquire(connect) -> None:
    async with ConnectionPool.opened(connect, 1) as pool:
        await pool.close()
        with pytest.raises(asyncpg.InterfaceError):
            await pool.acquire()


async def test_a_failed_connection_attempt_frees_its_slot(connect) -> None:
    attempts = iter([OSError("refused")])

    async def flaky():
        if error := next(attempts, None):
            raise error
        return await connect()

    pool = ConnectionPool(flaky, 1)
    with pytest.raises(OSError, match="refused"):
        await pool.acquire()
    async with pool.connection() as connection:
        assert await connection.fetchval("SELECT 1") == 1
    await pool.close()


class GatedConnect:
    """Opens connections only after `gate`; counts the attempts."""

    def __init__(self, connect) -> None:
        self.gate, self.attempts, self._connect = asyncio.Event(), 0, connect

    async def __call__(self) -> asyncpg.Connection:
        self.attempts += 1
        if self.attempts > 1:
            await self.gate.wait()
        return await self._connect()


async def test_a_burst_opens_one_connection_at_a_time(connect) -> None:
    gated = GatedConnect(connect)
    async with ConnectionPool.opened(gated, 5) as pool:
        first = await pool.acquire()
        waiting = [asyncio.create_task(pool.acquire()) for _ in range(3)]
        await eventually(lambda: gated.attempts == 2)
        await pool.release(first)
        assert await waiting[0] is first
        assert (gated.attempts, pool.size) == (2, 1)
        gated.gate.set()
        lent = [first, *await asyncio.gather(*waiting[1:])]
        assert (gated.attempts, pool.size, len(set(lent))) == (3, 3, 3)
        for connection in lent:
            await pool.release(connection)


async def test_a_pool_opens_no_more_than_its_maximum(connect) -> None:
    async with ConnectionPool.opened(connect, 2) as pool:
        lent = [await pool.acquire(), await pool.acquire()]
        third = asyncio.create_task(pool.acquire())
        with pytest.raises(TimeoutError):
            await pool.acquire(timeout=0.01)
        assert pool.size == 2
        await pool.release(lent[0])
        assert await third is lent[0]
        for connection in lent:
            await pool.release(connection)


async def test_some_connections_are_for_reads_only(connect) -> None:
    async with ConnectionPool.opened(connect, 3, for_reads=1) as pool:
        held = [await pool.acquire(), await pool.acquire()]
        third = asyncio.create_task(pool.acquire())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(third), 0.05)
        read = await pool.acquire(is_read=True)
        await pool.release(read)
        assert pool.idle_size == 1
        assert not third.done()
        # A place is free although its connection is gone: the idle one is lent.
        held[0].terminate()
        await pool.release(held[0])
        assert await third is read
        # Reads take every connection, and a transaction then waits for one.
        held[0] = await pool.acquire(is_read=True)
        for connection in (*held, read):
            await pool.release(connection)
        assert (pool.size, pool.idle_size) == (3, 3)


async def test_a_caller_who_is_cancelled_while_it_is_lent_a_connection_returns_it(connect) -> None:
    async with ConnectionPool.opened(connect, 1) as pool:
        only = await pool.acquire()
        waiting = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        await pool.release(only)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (pool.size, pool.idle_size) == (1, 1)


async def test_a_failed_connection_attempt_fails_one_caller_only(connect) -> None:
    gate, attempts = asyncio.Event(), iter([OSError("refused")])

    async def flaky():
        await gate.wait()
        if error := next(attempts, None):
            raise error
        return await connect()

    pool = ConnectionPool(flaky, 2)
    waiting = [asyncio.create_task(pool.acquire()) for _ in range(2)]
    await asyncio.sleep(0)
    gate.set()
    refused, lent = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(refused, OSError)
    await pool.release(lent)
    await pool.close()


async def test_closing_rejects_callers_who_wait(connect) -> None:
    async with ConnectionPool.opened(connect, 1) as pool:
        only = await pool.acquire()
        waiting = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        closing = asyncio.create_task(pool.close())
        with pytest.raises(asyncpg.InterfaceError, match="closed"):
            await waiting
        await pool.release(only)
        await closing
        assert pool.size == 0


async def test_the_pool_is_usable_after_a_cancelled_single_statement(mechanisms: Mechanisms) -> None:
    reading = asyncio.create_task(mechanisms.database.fetch_for(Caller(user_id=new_id()), "SELECT pg_sleep(60)"))
    await eventually(lambda: mechanisms.database.api.size > mechanisms.database.api.idle_size)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert [row["one"] for row in await mechanisms.database.fetch_public("SELECT 1 AS one")] == [1]
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch_value("SELECT 1") == 1


async def test_a_session_whose_client_vanished_ends_soon(mechanisms: Mechanisms) -> None:
    """Without its own limits PostgreSQL keeps the session's locks for the two hours of the kernel's default."""
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        settings = {
            name: int(await uow.fetch_value(f"SELECT setting FROM pg_settings WHERE name = 'tcp_{name}'"))
            for name in ("keepalives_idle", "keepalives_interval", "keepalives_count", "user_timeout")
        }
    probed = settings["keepalives_idle"] + settings["keepalives_count"] * settings["keepalives_interval"]
    assert 0 < probed <= 25
    # Keepalive is silent while an answer is unacknowledged.
    assert 0 < settings["user_timeout"] <= 25_000


async def test_a_waiting_request_gets_the_first_free_connection(mechanisms: Mechanisms) -> None:
    pool = mechanisms.database.service
    lent = [await pool.acquire(is_read=True) for _ in range(POOL_CONNECTIONS_MAX)]
    waiting = asyncio.create_task(mechanisms.database.transact(acting_as=THE_SERVICE, work=_one))
    with pytest.raises(TimeoutError):
        await pool.acquire(timeout=0.01)
    for connection in lent:
        await pool.release(connection)
    assert await waiting == 1


async def test_reads_are_served_while_every_transaction_waits(mechanisms: Mechanisms) -> None:
    # As commits do while a standby is frozen.
    database, standby = mechanisms.database, asyncio.Event()

    async def wait_for_standby(uow: UnitOfWork) -> None:
        await standby.wait()

    works = [
        asyncio.create_task(database.transact(acting_as=THE_SERVICE, work=wait_for_standby))
        for _ in range(POOL_CONNECTIONS_MAX + 1)
    ]
    await eventually(lambda: database.service.size - database.service.idle_size >= TRANSACTIONS_MAX)
    assert [row[0] for row in await database.fetch_for(THE_SERVICE, "SELECT 1")] == [1]
    standby.set()
    await asyncio.gather(*works)


async def _one(uow: UnitOfWork) -> int:
    return await uow.fetch_value("SELECT 1")
