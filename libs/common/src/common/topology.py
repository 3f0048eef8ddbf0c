"""The broker's exchanges and queues as a value, and how they are declared. What they are for is told in `contracts.topology`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import aio_pika
from aio_pika.abc import AbstractChannel
from aiormq.exceptions import ChannelPreconditionFailed

from common.retry import JITTER, RetryLadder

# A message that took its consumer down this often is poison. High enough for a worker that is killed many times in a row.
DELIVERIES_MAX: Final = 50
# The last stop: its consumer gives a letter back each second while the database is away, and RabbitMQ 4 would drop it
# after twenty times when no limit is named.
DEAD_QUEUE_ARGUMENTS: Final[dict[str, Any]] = {"x-queue-type": "quorum", "x-delivery-limit": 1_000_000}


class TopologyDrift(Exception):
    """The broker holds a queue or exchange of the same name with other arguments, which cannot be changed in place."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The whole map: work queues with the event types bound to them, and the two exchanges."""

    events_exchange: str
    public_exchange: str
    bindings: Mapping[str, Sequence[str]]
    public_types: Sequence[str] = ()
    ladder: RetryLadder = field(default_factory=RetryLadder)

    def listeners_of(self, event_type: str) -> bool:
        """Whether any queue must receive this type: then an unroutable message is a fault, not silence."""
        return any(event_type in types for types in self.bindings.values())

    async def declare(self, channel: AbstractChannel) -> None:
        """Declares everything; harmless when it stands already. Raises TopologyDrift when something stands otherwise."""
        try:
            await self._declare(channel)
        except ChannelPreconditionFailed as error:
            raise TopologyDrift(
                f"RabbitMQ refuses a declaration: {error}. Queue arguments cannot change in place: drain and delete that "
                "queue, or give the system another virtual host by BROKER_URL."
            ) from error

    async def _declare(self, channel: AbstractChannel) -> None:
        events = await channel.declare_exchange(self.events_exchange, aio_pika.ExchangeType.TOPIC, durable=True)
        public = await channel.declare_exchange(self.public_exchange, aio_pika.ExchangeType.TOPIC, durable=True)
        for event_type in self.public_types:
            await public.bind(events, routing_key=event_type)
        for delay in self.ladder.delays_seconds:
            await self._declare_delay(channel, delay)
        for dead in sorted({dead_letter_queue_of(name) for name in self.bindings}):
            await channel.declare_queue(dead, durable=True, arguments=DEAD_QUEUE_ARGUMENTS)
        for name, types in self.bindings.items():
            queue = await channel.declare_queue(name, durable=True, arguments=work_queue_arguments(name))
            for event_type in types:
                await queue.bind(events, routing_key=event_type)

    async def _declare_delay(self, channel: AbstractChannel, delay: float) -> None:
        """One delay queue for each delay: a message's own routing key, its work queue, brings it back when it expires."""
        name = delay_queue_of(delay)
        exchange = await channel.declare_exchange(name, aio_pika.ExchangeType.TOPIC, durable=True)
        arguments: dict[str, Any] = {
            "x-queue-type": "quorum",
            "x-message-ttl": int(delay * 1000 * (1 + JITTER)) + 1,
            "x-dead-letter-exchange": "",
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
        }
        queue = await channel.declare_queue(name, durable=True, arguments=arguments)
        await queue.bind(exchange, routing_key="#")


def work_queue_arguments(name: str) -> dict[str, Any]:
    """A quorum queue with a delivery limit and a dead-letter route (contract section 14, trap 15)."""
    return {
        "x-queue-type": "quorum",
        "x-delivery-limit": DELIVERIES_MAX,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": dead_letter_queue_of(name),
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }


def dead_letter_queue_of(queue: str) -> str:
    """Where the broker puts what a service's queues gave up: `<service>.dead`; the service stores it."""
    return queue.split(".", 1)[0] + ".dead"


def delay_queue_of(seconds: float) -> str:
    """`campus.delay.<milliseconds>`, the name of both the exchange and its queue."""
    return f"campus.delay.{int(seconds * 1000)}"
