"""A bus that delivers messages when it is asked to, one step at a time."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import aiormq
import aiormq.abc

from common.messaging.bus import OnMessage, Outgoing
from lab.stepped.wrappers import ObservedBus, ObservedMessage


class Arrivals:
    """The queues that may hold messages, so that the others are not polled."""

    def __init__(self) -> None:
        self.queues: set[str] = set()
        # Messages that arrive without a further publish: after a delay, or from a dead consumer.
        self.expected: Counter[str] = Counter()

    def waiting(self) -> set[str]:
        """Return the queues with published or expected messages."""
        return self.queues | self.expected.keys()

    def claim(self, queue: str) -> int:
        """Clear a queue before its delivery; returns the number of expected messages."""
        self.queues.discard(queue)
        return self.expected.pop(queue, 0)


ARRIVALS: Final = Arrivals()


class SteppedMessage(ObservedMessage):
    """A message that was taken. `held`: the queues of its consumer's unacknowledged messages, by delivery tag."""

    held: dict[int, str]

    async def send_ack(self, multiple: bool) -> None:
        if not self.processed:
            await super().send_ack(multiple)
        tag = self.delivery_tag or 0
        for acknowledged in [other for other in self.held if other == tag or (multiple and other < tag)]:
            del self.held[acknowledged]

    async def nack(self, multiple: bool = False, requeue: bool = True) -> None:
        await super().nack(multiple, requeue)
        ARRIVALS.expected[self.held.pop(self.delivery_tag or 0)] += 1


@dataclass(slots=True)
class _Channel:
    """A channel for messages. `held`: the queue of each one without an acknowledgement, by delivery tag."""

    getting: aiormq.abc.AbstractChannel
    held: dict[int, str] = field(default_factory=dict)
    is_receiving: bool = True


class SteppedBus(ObservedBus):
    """Consumers register; `receive` is their turn."""

    # For the check of the checks: the broker forgets a message when it delivers it.
    forgets_at_delivery: ClassVar[bool] = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.consumers: dict[str, OnMessage] = {}
        self._channels: list[_Channel] = []

    async def consume(self, queue: str, open_consumer: Callable[[], OnMessage]) -> None:
        self.consumers[queue] = open_consumer()
        await asyncio.Event().wait()

    async def receive(self, queue: str, count_max: int) -> Sequence[SteppedMessage]:
        """Return the messages of a queue, at most `count_max`."""
        channel = await self._free_channel()
        messages: list[SteppedMessage] = []
        try:
            while len(messages) < count_max:
                delivered = await channel.getting.basic_get(queue)
                if isinstance(delivered.delivery, aiormq.spec.Basic.GetEmpty):
                    break
                message = SteppedMessage(delivered)
                message.held = channel.held
                channel.held[message.delivery_tag or 0] = queue
                if self.forgets_at_delivery:
                    await message.send_ack(multiple=False)
                messages.append(message)
        finally:
            channel.is_receiving = False
        return messages

    @property
    def held_queues(self) -> list[str]:
        """The queue of each message without an acknowledgement."""
        return [queue for channel in self._channels for queue in channel.held.values()]

    async def _free_channel(self) -> "_Channel":
        """Return a channel without unacknowledged messages: acknowledging several covers all earlier ones."""
        for channel in [channel for channel in self._channels if channel.getting.is_closed]:
            # The connection ended, such as one whose heartbeats a busy machine delayed. The broker delivers again.
            self._channels.remove(channel)
            ARRIVALS.expected.update(channel.held.values())
        for channel in self._channels:
            if not (channel.held or channel.is_receiving):
                channel.is_receiving = True
                return channel
        opened = await (await self._connected()).channel(publisher_confirms=False)
        self._channels.append(channel := _Channel(await opened.get_underlay_channel()))
        return channel

    async def _publish_one(self, channel: Any, message: Outgoing) -> bool:
        # Before the effect, since a publish without a confirm may have arrived, and after it, since another actor of a
        # race may have found the queue empty in between.
        queues = self._queues_of(message)
        ARRIVALS.queues.update(queues)
        is_confirmed = await super()._publish_one(channel, message)
        ARRIVALS.queues.update(queues)
        return is_confirmed

    async def send_delayed(self, message: Outgoing, queue: str, seconds: float) -> None:
        await super().send_delayed(message, queue, seconds)
        ARRIVALS.expected[queue] += 1

    def _queues_of(self, message: Outgoing) -> set[str]:
        if message.queue is not None:
            return {message.queue}
        return {name for name, types in self.topology.bindings.items() if message.type in types}
