"""The limit on concurrent sends of one channel in one worker."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager


class ConcurrencyLimiter:
    """A semaphore for each queue of messages. A waiting message is unclaimed, and no provider was called for it.

    The sends of a worker that dies have an unknown outcome (README, At most one message). The limit bounds their number,
    and a hanging channel blocks only itself. `queue_limits` holds lower limits of single queues.
    """

    def __init__(self, limit: int, queue_limits: Mapping[str, int] | None = None) -> None:
        self._limit, self._queue_limits = limit, queue_limits or {}
        self._semaphores: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def slot(self, queue: str) -> AsyncIterator[None]:
        """Hold one of the queue's slots."""
        semaphore = self._semaphores.get(queue)
        if semaphore is None:
            limit = min(self._limit, self._queue_limits.get(queue, self._limit))
            semaphore = self._semaphores[queue] = asyncio.Semaphore(limit)
        async with semaphore:
            yield
