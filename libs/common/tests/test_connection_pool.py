"""The connection pool replaces what cannot be used again, and closes in order."""

import asyncio

import asyncpg
import pytest

from common.auth.caller import THE_SERVICE, Caller
from common.database import connection_pool
from common.database.connection_pool import ConnectionPool
from common.primitives.ids import new_id
from testkit.fixtures import eventually

from .conftest import Mechanisms


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


async def test_the_pool_is_usable_after_a_cancelled_single_statement(mechanisms: Mechanisms) -> None:
    reading = asyncio.create_task(mechanisms.database.fetch_for(Caller(user_id=new_id()), "SELECT pg_sleep(60)"))
    await eventually(lambda: mechanisms.database.api.size > mechanisms.database.api.idle_size)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert [row["one"] for row in await mechanisms.database.fetch_public("SELECT 1 AS one")] == [1]
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch_value("SELECT 1") == 1
