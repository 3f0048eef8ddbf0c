"""How many messages of a channel are in hand at once in one worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Lanes:
    """One lane for each queue of messages. What waits for its turn has not been claimed, and no provider was asked for it.

    A worker that dies sends what it had in hand once more (README, At most one message): a lane bounds how many that are, and a
    channel that hangs fills its own.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._turns: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def turn(self, queue: str) -> AsyncIterator[None]:
        """Waits for a turn in the lane of that queue."""
        async with self._turns.setdefault(queue, asyncio.Semaphore(self._at_once)):
            yield
