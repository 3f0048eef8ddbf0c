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
        self._travelling: set[asyncio.Task[None]] = set()

    async def ask(self, question: Question) -> Answer:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((question, answer))
        if len(self._travelling) < self._at_once:
            task = loop.create_task(self._travel())
            self._travelling.add(task)
            task.add_done_callback(self._travelling.discard)
        return await answer

    async def close(self) -> None:
        """Ends what is under way."""
        for task in [*self._travelling]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _travel(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[: self._size_max], self._waiting[self._size_max :]
            try:
                answers = await self._run([question for question, _ in batch])
            except Exception as error:
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for (_, answer), found in zip(batch, answers, strict=True):
                    if not answer.done():
                        answer.set_result(found)
