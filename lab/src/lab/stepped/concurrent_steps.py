"""Preparations of several races: all run up to their next wait for messages, which then move once for all of them."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final, Generic, TypeVar

Result = TypeVar("Result")

# A service rejects requests beyond its own limit of concurrent ones.
_AT_ONCE: Final = 4


class Step(Generic[Result]):
    """One of the works, which runs only inside `proceed`."""

    def __init__(self, work: Callable[[], Awaitable[Result]]) -> None:
        self._resumed, self._paused = asyncio.Event(), asyncio.Event()
        self.has_ended = False
        context = contextvars.copy_context()
        context.run(STEP.set, self)
        self.task = asyncio.get_running_loop().create_task(self._run(work), context=context)

    async def _run(self, work: Callable[[], Awaitable[Result]]) -> Result:
        await self._resumed.wait()
        try:
            return await work()
        finally:
            self.has_ended = True
            self._paused.set()

    async def pause(self) -> None:
        """Wait until the messages of all works have moved."""
        self._resumed.clear()
        self._paused.set()
        await self._resumed.wait()

    async def proceed(self) -> None:
        """Run the work to its next pause, or to its end."""
        self._paused.clear()
        self._resumed.set()
        await self._paused.wait()


STEP: ContextVar[Step[Any] | None] = ContextVar("step of a common preparation", default=None)


async def run_concurrently(
    works: Sequence[Callable[[], Awaitable[Result]]], move_messages: Callable[[], Awaitable[None]]
) -> list[Result]:
    """Return the results of all works. Raises the first error of one."""
    steps = [Step(work) for work in works]
    running = steps
    try:
        while running:
            for first in range(0, len(running), _AT_ONCE):
                await asyncio.gather(*(step.proceed() for step in running[first : first + _AT_ONCE]))
            running = [step for step in running if not step.has_ended]
            if running:
                await move_messages()
        return [await step.task for step in steps]
    finally:
        for step in steps:
            step.task.cancel()
