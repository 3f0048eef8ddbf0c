"""Questions that arrive while a round trip is under way share the next one: under load a store is asked once for many requests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Batches(Generic[Question, Answer]):
    """Asks `run` for up to `size_max` questions at a time, at most `at_once` round trips side by side.

    `run` answers in the order of the questions. What it raises, every question of that batch raises.
    """

    def __init__(
        self, run: Callable[[Sequence[Question]], Awaitable[Sequence[Answer]]], *, size_max: int, at_once: int
    ) -> None:
        self._run, self._size_max, self._at_once = run, size_max, at_once
        self._waiting: list[tuple[Question, asyncio.Future[Answer]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way = 0

    async def ask(self, question: Question) -> Answer:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((question, answer))
        if self._under_way < self._at_once:
            self._under_way += 1
            task = loop.create_task(self._travel())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await answer

    async def close(self) -> None:
        """Ends what is under way; who still waits is cancelled."""
        for task in [*self._tasks]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for _, answer in self._waiting:
            answer.cancel()

    async def _travel(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[: self._size_max], self._waiting[self._size_max :]
                await self._run_batch(batch)
        finally:
            # In the same step as the look at `_waiting`: a question that comes later finds that nobody travels any more.
            self._under_way -= 1

    async def _run_batch(self, batch: Sequence[tuple[Question, "asyncio.Future[Answer]"]]) -> None:
        try:
            answers = await self._run([question for question, _ in batch])
        except BaseException as error:
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error) if isinstance(error, Exception) else answer.cancel()
            if not isinstance(error, Exception):
                raise
        else:
            for (_, answer), found in zip(batch, answers, strict=True):
                if not answer.done():
                    answer.set_result(found)
