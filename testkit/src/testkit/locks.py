"""Check that a statement of a store locks the rows that it names: a second transaction waits for the first one, and no
third one does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from testkit.databases import WAIT_SECONDS_MAX

_POLL_SECONDS: Final = 0.005
_IS_BLOCKED: Final = "SELECT cardinality(pg_blocking_pids($1)) > 0"

Action = Callable[[UnitOfWork], Awaitable[Any]]
Lock = Callable[[UnitOfWork, Any], Awaitable[Any]]
"""Locks the rows of a key, and returns what it found."""

Locks = Mapping[str, tuple[str, Lock]]
"""By name: a statement that lists keys, and the lock of a key."""


async def waits_for(database: Database, first: Action, second: Action) -> bool:
    """Return whether `second` waits until the transaction of `first` has ended. Raises the error of either."""
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run_second() -> None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            started.set_result(await uow.fetch_value("SELECT pg_backend_pid()"))
            await second(uow)

    async with database.unit_of_work(acting_as=THE_SERVICE) as uow, asyncio.timeout(WAIT_SECONDS_MAX):
        await first(uow)
        running = asyncio.create_task(run_second())
        either: set[asyncio.Future[Any]] = {started, running}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        while not running.done() and not await uow.fetch_value(_IS_BLOCKED, started.result()):
            await asyncio.sleep(_POLL_SECONDS)
        waited = not running.done()
    await running
    return waited


async def assert_locks(database: Database, locks: Locks) -> None:
    """Check that each lock finds the rows of its first two keys, and others wait for that key alone."""
    for name, (keys, lock) in locks.items():
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            own, other, *_ = [row[0] for row in await uow.fetch(f"{keys} ORDER BY 1")]
            assert await lock(uow, own), name
            assert await lock(uow, other), name
        lock_own, lock_other = _with_key(lock, own), _with_key(lock, other)
        assert await waits_for(database, lock_own, lock_own), f"{name}: it is not locked"
        assert not await waits_for(database, lock_own, lock_other), f"{name}: other rows are locked too"


def _with_key(lock: Lock, key: Any) -> Action:
    return lambda uow: lock(uow, key)
