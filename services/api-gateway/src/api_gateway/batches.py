"""Batching: items that arrive during a round trip share the next one, so a busy store gets few requests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batches(Generic[Item, Result]):
    """Pass up to `size_max` items at a time to `run`, in at most `concurrency_max` concurrent round trips.

    `run` returns one result per item, in order. Its exception is raised for every item of the batch.
    """

    def __init__(
        self, run: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]], *, size_max: int, concurrency_max: int
    ) -> None:
        self._run, self._size_max, self._concurrency_max = run, size_max, concurrency_max
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0

    async def submit(self, item: Item) -> Result:
        """Return the result of the item."""
        loop = asyncio.get_running_loop()
        response: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, response))
        if self._running < self._concurrency_max:
            self._running += 1
            task = loop.create_task(self._drain())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await response

    async def close(self) -> None:
        """Cancel the running round trips and the waiting items."""
        for task in [*self._tasks]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for _, response in self._waiting:
            response.cancel()

    async def _drain(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[: self._size_max], self._waiting[self._size_max :]
                await self._run_batch(batch)
        finally:
            # In the same step as the check of `_waiting`: a later item starts a new round trip.
            self._running -= 1

    async def _run_batch(self, batch: Sequence[tuple[Item, "asyncio.Future[Result]"]]) -> None:
        try:
            results = await self._run([item for item, _ in batch])
        except BaseException as error:
            for _, response in batch:
                if not response.done():
                    response.set_exception(error) if isinstance(error, Exception) else response.cancel()
            if not isinstance(error, Exception):
                raise
        else:
            for (_, response), found in zip(batch, results, strict=True):
                if not response.done():
                    response.set_result(found)
