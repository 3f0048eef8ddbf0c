"""How many messages of a channel are in hand at once in one worker."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager


class ConcurrencyLimiter:
    """One lane for each queue of messages. What waits for its turn has not been claimed, and no provider was asked for it.

    What a worker has in hand when it dies is in doubt (README, At most one message): a lane bounds how many that are, and a
    channel that hangs fills its own. `narrower` bounds single queues further.
    """

    def __init__(self, at_once: int, narrower: Mapping[str, int] | None = None) -> None:
        self._at_once, self._narrower = at_once, narrower or {}
        self._turns: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def turn(self, queue: str) -> AsyncIterator[None]:
        """Waits for a turn in the lane of that queue."""
        turns = self._turns.get(queue)
        if turns is None:
            turns = self._turns[queue] = asyncio.Semaphore(min(self._at_once, self._narrower.get(queue, self._at_once)))
        async with turns:
            yield
