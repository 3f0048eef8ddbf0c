"""Batches of messages: those that arrive shortly after one another, or while others are handled, are handled
together.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from aio_pika.abc import AbstractIncomingMessage

# A longer transaction would hold its row locks for too long.
MESSAGES_MAX: Final = 16
# While one batch waits for a row lock, or for the disk, the others continue. The relay and the loops of the process
# share the ten connections of the pool.
BATCHES_AT_ONCE: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """A channel of the broker's connection, which consumes one queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message, and the channel that must acknowledge it."""

    channel: Channel
    message: AbstractIncomingMessage


Arrivals = Sequence[Arrival]
# `is_oldest(channel)`: every earlier message of the channel is settled, so that one acknowledgement covers the batch.
OnBatch = Callable[[Arrivals, Callable[[Channel], bool]], Awaitable[None]]


class Batches:
    """The unsettled messages of a service. The first message of a batch waits `linger_seconds` for others of all
    queues.
    """

    def __init__(self, handle: OnBatch, linger_seconds: float = 0.0) -> None:
        self._handle, self._linger_seconds = handle, linger_seconds
        self._waiting: list[Arrival] = []
        # In the order of arrival, which is that of the delivery tags of each channel.
        self._under_way: list[Arrivals] = []

    def of_queue(self, queue: str) -> Callable[[AbstractIncomingMessage], Awaitable[None]]:
        """Return the callback of a new channel of the queue."""
        return partial(self._add, Channel(queue))

    async def _add(self, channel: Channel, message: AbstractIncomingMessage) -> None:
        """Handle the message, or adds it to a batch that ends soon."""
        self._waiting.append(Arrival(channel, message))
        if len(self._waiting) < MESSAGES_MAX:
            # Messages that arrive until then join the batch.
            await asyncio.sleep(self._linger_seconds)
        while self._waiting and len(self._under_way) < BATCHES_AT_ONCE:
            batch, self._waiting = self._waiting[:MESSAGES_MAX], self._waiting[MESSAGES_MAX:]
            self._under_way.append(batch)
            try:
                await self._handle(batch, partial(self._is_oldest, batch))
            finally:
                self._under_way.remove(batch)

    def _is_oldest(self, batch: Arrivals, channel: Channel) -> bool:
        return next(each for each in self._under_way if any(one.channel is channel for one in each)) is batch
