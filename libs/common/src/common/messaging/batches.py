"""Batches of messages from one queue: the messages that arrive while others are handled are handled together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from aio_pika.abc import AbstractIncomingMessage

# A longer transaction would hold its row locks for too long.
MESSAGES_MAX: Final = 16
# While one batch waits for a row lock, or for the disk, the others continue. With fewer, a queue with many messages falls
# after one with few, and messages arrive before their dependencies.
BATCHES_AT_ONCE: Final = 4

Messages = Sequence[AbstractIncomingMessage]
# `is_oldest()`: every earlier message of the channel is settled, so that one acknowledgement covers the batch.
OnBatch = Callable[[Messages, Callable[[], bool]], Awaitable[None]]


class Batches:
    """The unsettled messages of one channel. A message waits only while `BATCHES_AT_ONCE` batches are under way."""

    def __init__(self, handle: OnBatch) -> None:
        self._handle = handle
        self._waiting: list[AbstractIncomingMessage] = []
        # In the order of their delivery tags.
        self._under_way: list[Messages] = []

    async def add(self, message: AbstractIncomingMessage) -> None:
        """Handles the message, or adds it to a batch that ends soon."""
        self._waiting.append(message)
        # Messages that arrived together join the batch.
        await asyncio.sleep(0)
        while self._waiting and len(self._under_way) < BATCHES_AT_ONCE:
            batch, self._waiting = self._waiting[:MESSAGES_MAX], self._waiting[MESSAGES_MAX:]
            self._under_way.append(batch)
            try:
                await self._handle(batch, partial(self._is_oldest, batch))
            finally:
                self._under_way.remove(batch)

    def _is_oldest(self, batch: Messages) -> bool:
        return self._under_way[0] is batch
