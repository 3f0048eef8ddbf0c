"""The broker's exchanges and queues as a value, and how they are declared. What they are for is told in `contracts.topology`.

The provisioner declares them with an operator's account. A service's account may not: whoever may declare a queue may let its
messages expire into any exchange that it may write to, past the topic permissions. A process only checks, by one passive
declaration, that the provisioner declared exactly its own map: the last exchange declared is named by the map's digest.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import aio_pika
from aio_pika.abc import AbstractChannel
from aiormq.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed

from common.primitives.retry import JITTER, RetryLadder
from contracts import topology as broker_map
from contracts.topology import DELAY_EXCHANGE, RETRY_EXCHANGE, WORK_EXCHANGE

# A message that took its consumer down this often is poison. High enough for a worker that is killed many times in a row.
DELIVERIES_MAX: Final = 50
# The last stop: its consumer gives a letter back each second while the database is away, and RabbitMQ 4 would drop it
# after twenty times when no limit is named.
DEAD_QUEUE_ARGUMENTS: Final[dict[str, Any]] = {"x-queue-type": "quorum", "x-delivery-limit": 1_000_000}


# The header by which `campus.delay` chooses the delay queue, in milliseconds.
DELAY_HEADER: Final = "retry-delay"


class TopologyDrift(Exception):
    """The broker holds a queue or exchange of the same name with other arguments, which cannot be changed in place."""


class TopologyMissing(ConnectionError):
    """The provisioner did not declare this process's map on the broker, or the broker lost it."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The whole map: work queues with the event types bound to them, and the exchanges."""

    events_exchange: str
    public_exchange: str
    bindings: Mapping[str, Sequence[str]]
    public_types: Sequence[str] = ()
    ladder: RetryLadder = field(default_factory=RetryLadder)

    def listeners_of(self, event_type: str) -> bool:
        """Whether any queue must receive this type: then an unroutable message is a fault, not silence."""
        return any(event_type in types for types in self.bindings.values())

    @property
    def marker(self) -> str:
        """The exchange that says that exactly this map was declared."""
        content = {
            "exchanges": [self.events_exchange, self.public_exchange, WORK_EXCHANGE, RETRY_EXCHANGE, DELAY_EXCHANGE],
            "queues": {name: [sorted(types), work_queue_arguments(name)] for name, types in self.bindings.items()},
            "dead": DEAD_QUEUE_ARGUMENTS,
            "public": sorted(self.public_types),
            "delays": {delay_queue_of(delay): delay_queue_arguments(delay) for delay in self.ladder.delays_seconds},
        }
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return f"campus.topology.{digest[:16]}"

    async def check(self, channel: AbstractChannel) -> None:
        """Raises TopologyMissing unless the provisioner declared this map. Needs no permission."""
        try:
            await channel.declare_exchange(self.marker, passive=True)
        except ChannelNotFoundEntity as error:
            raise TopologyMissing(
                f"RabbitMQ has no exchange {self.marker}: the queues of this version were not declared there. Run "
                "`declare-broker` of this version with an operator's account (docs/runbooks/outbox-age.md)."
            ) from error

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
        work = await channel.declare_exchange(WORK_EXCHANGE, aio_pika.ExchangeType.TOPIC, durable=True)
        await self._declare_delays(channel)
        for dead in sorted({dead_letter_queue_of(name) for name in self.bindings}):
            await channel.declare_queue(dead, durable=True, arguments=DEAD_QUEUE_ARGUMENTS)
        for name, types in self.bindings.items():
            queue = await channel.declare_queue(name, durable=True, arguments=work_queue_arguments(name))
            for event_type in types:
                await queue.bind(events, routing_key=event_type)
            await queue.bind(work, routing_key=name)
        await channel.declare_exchange(self.marker, aio_pika.ExchangeType.FANOUT, durable=True)

    async def _declare_delays(self, channel: AbstractChannel) -> None:
        """One delay queue for each delay: a message's own routing key, its work queue, brings it back when it expires."""
        retry = await channel.declare_exchange(RETRY_EXCHANGE, aio_pika.ExchangeType.TOPIC, durable=True)
        delays = await channel.declare_exchange(DELAY_EXCHANGE, aio_pika.ExchangeType.HEADERS, durable=True)
        await delays.bind(retry, routing_key="#")
        for delay in self.ladder.delays_seconds:
            name = delay_queue_of(delay)
            queue = await channel.declare_queue(name, durable=True, arguments=delay_queue_arguments(delay))
            await queue.bind(delays, arguments={"x-match": "all", DELAY_HEADER: delay_header(delay)})


def declared_topology(ladder: RetryLadder) -> Topology:
    """The broker's map from the contracts: queues `<service>.<publisher>`, and the work queues."""
    bindings: dict[str, list[str]] = {name: [] for name in broker_map.WORK_QUEUES}
    for service, events in broker_map.SUBSCRIPTIONS.items():
        for event in events:
            bindings.setdefault(f"{service}.{event.publisher()}", []).append(event.TYPE)
    return Topology(
        broker_map.EVENTS_EXCHANGE,
        broker_map.PUBLIC_EXCHANGE,
        bindings,
        [event.TYPE for event in broker_map.PUBLIC],
        ladder,
    )


async def declare_topology(broker_url: str, topology: Topology) -> None:
    """Declares the map with an account that may; the provisioner's part. Raises TopologyDrift."""
    async with await aio_pika.connect(broker_url) as connection:
        await topology.declare(await connection.channel(publisher_confirms=False))


def delay_queue_arguments(seconds: float) -> dict[str, Any]:
    """A quorum queue whose messages go back to the queue that their routing key names."""
    return {
        "x-queue-type": "quorum",
        "x-message-ttl": int(seconds * 1000 * (1 + JITTER)) + 1,
        "x-dead-letter-exchange": "",
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }


def work_queue_arguments(name: str) -> dict[str, Any]:
    """A quorum queue with a delivery limit and a dead-letter route (contract section 14.11)."""
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
    """`campus.delay.<milliseconds>`."""
    return f"{DELAY_EXCHANGE}.{delay_header(seconds)}"


def delay_header(seconds: float) -> str:
    """The value of DELAY_HEADER for this delay."""
    return str(int(seconds * 1000))
