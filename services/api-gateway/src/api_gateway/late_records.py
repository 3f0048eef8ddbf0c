"""Idempotency records that an outage of the store prevented, written when it is back: a client that repeats its request
waits for the store then, and not for the end of the lease.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from common.database.errors import DatabaseUnavailable
from common.observability.logging import get_logger

log = get_logger(__name__)

Item = TypeVar("Item")

_PAUSE_SECONDS: Final = 1.0
# A lease that finds no place here ends by itself. A response has at most 1 MiB.
_ITEMS_MAX: Final = 500


@dataclass(slots=True)
class _Late(Generic[Item]):
    item: Item
    due_at: float
    until: float
    pause_seconds: float = _PAUSE_SECONDS


class LateRecords(Generic[Item]):
    """Repeats `write` for each item until it returns True, with doubling pauses, at most for `keep_seconds`.

    A statement that the frozen server received before it may run after the first repetition: one is not enough.
    """

    def __init__(self, write: Callable[[Item], Awaitable[bool]], *, keep_seconds: float) -> None:
        self._write, self._keep_seconds = write, keep_seconds
        self._waiting: list[_Late[Item]] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, item: Item) -> None:
        if len(self._waiting) >= _ITEMS_MAX:
            return
        now = asyncio.get_running_loop().time()
        self._waiting.append(_Late(item, now + _PAUSE_SECONDS, now + self._keep_seconds))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._repeat())

    async def close(self) -> None:
        """End the repetitions: the leases of what is left end by themselves."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _repeat(self) -> None:
        while self._waiting:
            await asyncio.sleep(_PAUSE_SECONDS)
            try:
                for late in [*self._waiting]:
                    await self._repeat_one(late)
            except DatabaseUnavailable:
                continue
            except Exception:
                # A fault of one record ends neither the repetition of the others nor, before its lease, its own.
                log.exception("late idempotency record not written")

    async def _repeat_one(self, late: _Late[Item]) -> None:
        now = asyncio.get_running_loop().time()
        if now < late.due_at:
            return
        late.due_at, late.pause_seconds = now + late.pause_seconds, late.pause_seconds * 2
        if now > late.until or await self._write(late.item):
            self._waiting.remove(late)
