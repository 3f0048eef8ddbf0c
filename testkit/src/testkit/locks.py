"""Whether a statement of a store locks what it names: a second transaction waits for the first one, and no third one does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from testkit.fixtures import WAIT_SECONDS_MAX

_POLL_SECONDS: Final = 0.005
_IS_BLOCKED: Final = "SELECT cardinality(pg_blocking_pids($1)) > 0"

Action = Callable[[UnitOfWork], Awaitable[Any]]


async def waits_for(database: Database, first: Action, second: Action) -> bool:
    """Whether `second` waits until the transaction of `first` has ended."""
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run_second() -> None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            started.set_result(await uow.fetch_value("SELECT pg_backend_pid()"))
            await second(uow)

    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await first(uow)
        running = asyncio.create_task(run_second())
        backend = await started

        async with asyncio.timeout(WAIT_SECONDS_MAX):
            while not running.done() and not await uow.fetch_value(_IS_BLOCKED, backend):
                await asyncio.sleep(_POLL_SECONDS)
        waited = not running.done()
    await running
    return waited


async def assert_locks(
    database: Database, lock: Callable[[UnitOfWork, Any], Awaitable[Any]], own: Any, other: Any
) -> None:
    """`lock(uow, own)` finds something and makes itself wait; for `other` it does not wait."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await lock(uow, own)
        assert await lock(uow, other)
    assert await waits_for(database, lambda uow: lock(uow, own), lambda uow: lock(uow, own))
    assert not await waits_for(database, lambda uow: lock(uow, own), lambda uow: lock(uow, other))
