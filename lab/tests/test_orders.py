"""The load's watch for results in a database."""

import asyncio
from uuid import UUID, uuid4

from lab.orders import Watch


class Connection:
    """A connection that finds every id, and is its own transaction. Its rollback waits for the gate."""

    def __init__(self) -> None:
        self.rolls_back, self.gate = asyncio.Event(), asyncio.Event()

    def transaction(self) -> "Connection":
        return self

    async def start(self) -> None:
        pass

    async def rollback(self) -> None:
        self.rolls_back.set()
        await self.gate.wait()

    async def fetch(self, _statement: str, ids: list[UUID]) -> list[tuple[UUID]]:
        return [(each,) for each in ids]


async def test_an_id_that_is_added_while_the_last_poll_ends_is_found() -> None:
    connection = Connection()
    watch = Watch(connection, "SELECT")
    await watch.reaches(str(uuid4()))
    await connection.rolls_back.wait()
    added = asyncio.create_task(watch.reaches(str(uuid4())))
    await asyncio.sleep(0)
    connection.gate.set()
    await added
