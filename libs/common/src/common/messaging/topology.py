"""The broker's exchanges and queues as a value, and their declaration. `contracts.topology` explains their purpose.

The provisioner declares them with an operator's account. A service's account may not declare queues: messages that
expire from a queue could reach an exchange past the topic permissions. A process only checks, by a passive declaration,
that the provisioner declared exactly its topology: the digest of the topology is the name of the last exchange
declared.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import aio_pika
from aio_pika.abc import AbstractChannel
from aiormq.abc import ArgumentsType
from aiormq.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed

from common.primitives.retry import JITTER, RetryLadder, jittered
from common.primitives.waiting import bounded
from contracts import topology as broker_map
from contracts.topology import DELAY_EXCHANGE, RETRY_EXCHANGE, WORK_EXCHANGE

# A message that crashed its consumer this often is dead-lettered. High enough for a worker that is killed repeatedly.
DELIVERIES_MAX: Final = 50
# The dead letter queue: its consumer requeues a message each second during an outage of the database. Without a limit
# RabbitMQ 4 drops a message after twenty deliveries.
DEAD_QUEUE_ARGUMENTS: Final[ArgumentsType] = {"x-queue-type": "quorum", "x-delivery-limit": 1_000_000}

# A leader is elected within milliseconds, on a loaded machine within seconds.
DECLARATIONS_MAX: Final = 20
DECLARATION_PAUSE_SECONDS: Final = 0.5
# Every queue of a new system on a loaded machine; a frozen broker answers nothing.
DECLARE_SECONDS_MAX: Final = 180.0

# The header by which `campus.delay` chooses the delay queue, in milliseconds.
DELAY_HEADER: Final = "retry-delay"


class TopologyDrift(Exception):
    """The broker holds a queue or exchange of the same name with other arguments, which cannot be changed in place."""


class TopologyMissing(ConnectionError):
    """The broker does not have the topology of this process: never declared, or lost."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The whole topology: work queues with the event types bound to them, and the exchanges."""

    events_exchange: str
    public_exchange: str
    bindings: Mapping[str, Sequence[str]]
    public_types: Sequence[str] = ()
    ladder: RetryLadder = field(default_factory=RetryLadder)
    _bound_types: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_bound_types", frozenset(one for types in self.bindings.values() for one in types))

    def listeners_of(self, event_type: str) -> bool:
        """Return whether any queue must receive this type, so that an unroutable message is a fault."""
        return event_type in self._bound_types

    @property
    def marker(self) -> str:
        """The name of the exchange that marks exactly this topology as declared."""
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
        """Raise TopologyMissing unless the provisioner declared this topology. Needs no permission."""
        try:
            await channel.declare_exchange(self.marker, passive=True)
        except ChannelNotFoundEntity as error:
            raise TopologyMissing(
                f"RabbitMQ has no exchange {self.marker}: the queues of this version were not declared there. Run "
                "`declare-broker` of this version with an operator's account (docs/runbooks/outbox-age.md)."
            ) from error

    async def declare(self, channel: AbstractChannel) -> None:
        """Declare the topology; a repetition has no effect. Raises TopologyDrift for a difference."""
        try:
            await self._declare(channel)
        except ChannelPreconditionFailed as error:
            raise TopologyDrift(
                f"RabbitMQ refuses a declaration: {error}. Queue arguments cannot change in place: drain and delete "
                "that queue, or give the system another virtual host by BROKER_URL."
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
        """Declare one queue per delay. An expired message returns to its work queue, which is its routing key."""
        retry = await channel.declare_exchange(RETRY_EXCHANGE, aio_pika.ExchangeType.TOPIC, durable=True)
        delays = await channel.declare_exchange(DELAY_EXCHANGE, aio_pika.ExchangeType.HEADERS, durable=True)
        await delays.bind(retry, routing_key="#")
        for delay in self.ladder.delays_seconds:
            name = delay_queue_of(delay)
            queue = await channel.declare_queue(name, durable=True, arguments=delay_queue_arguments(delay))
            await queue.bind(delays, arguments={"x-match": "all", DELAY_HEADER: delay_header(delay)})


def declared_topology(ladder: RetryLadder) -> Topology:
    """Return the topology of the contracts: queues `<service>.<publisher>`, and the work queues."""
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
    """Declare the topology with an operator's account. Raises TopologyDrift.

    While another provisioner creates a quorum queue, RabbitMQ closes the channel of a second declaration with
    NOT_FOUND: the queue has a record and no leader yet. The repetition finds both.
    """
    await bounded(_declare(broker_url, topology), DECLARE_SECONDS_MAX)


async def _declare(broker_url: str, topology: Topology) -> None:
    async with await aio_pika.connect(broker_url) as connection:
        for attempt in range(1, DECLARATIONS_MAX + 1):
            try:
                await topology.declare(await connection.channel(publisher_confirms=False))
                break
            except ChannelNotFoundEntity:
                if attempt == DECLARATIONS_MAX:
                    raise
                await asyncio.sleep(jittered(DECLARATION_PAUSE_SECONDS))


def delay_queue_arguments(seconds: float) -> ArgumentsType:
    """Return a quorum queue whose expired messages return to the queue of their routing key."""
    return {
        "x-queue-type": "quorum",
        "x-message-ttl": int(seconds * 1000 * (1 + JITTER)) + 1,
        "x-dead-letter-exchange": "",
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }


def work_queue_arguments(name: str) -> ArgumentsType:
    """Return a quorum queue with a delivery limit and a dead-letter route (contract section 14.11)."""
    return {
        "x-queue-type": "quorum",
        "x-delivery-limit": DELIVERIES_MAX,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": dead_letter_queue_of(name),
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }


def dead_letter_queue_of(queue: str) -> str:
    """Return the queue of a service's dead-lettered messages, `<service>.dead`; the service stores them."""
    return queue.split(".", 1)[0] + ".dead"


def delay_queue_of(seconds: float) -> str:
    """`campus.delay.<milliseconds>`."""
    return f"{DELAY_EXCHANGE}.{delay_header(seconds)}"


def delay_header(seconds: float) -> str:
    """Return the value of DELAY_HEADER for this delay."""
    return str(int(seconds * 1000))
