"""A double of RabbitMQ inside the program: quorum queues that a schedule empties in any order.

It replaces the protocol's channel, so that the publishing, the retry ladder and the acknowledgements are the product's
own.
"""

import asyncio
import copy
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Literal, cast

import aiormq
from pamqp.header import ContentHeader

from common.database.outbox import OutboxRow
from common.messaging.bus import OnMessage, QueueLength
from common.messaging.topology import DELAY_HEADER, DELIVERIES_MAX, Topology, dead_letter_queue_of
from common.primitives.clock import ManualClock
from contracts.topology import DELAY_EXCHANGE, RETRY_EXCHANGE, WORK_EXCHANGE
from lab.stepped.reached import REACHED
from lab.stepped.wrappers import ObservedBus, ObservedMessage

Loss = Literal["acknowledgement", "confirm", "publish"]
"""What a lost connection takes with it: an acknowledgement, the confirm of an accepted message, or a message."""

_DEFAULT_EXCHANGE: Final = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A message. `number`: its order in the queue; `deliveries`: those without an acknowledgement."""

    number: int
    exchange: str
    routing_key: str
    body: bytes
    properties: aiormq.spec.Basic.Properties
    deaths: tuple[Mapping[str, Any], ...] = ()
    deliveries: int = 0

    @property
    def type(self) -> str:
        return self.properties.message_type or ""

    @property
    def headers(self) -> dict[str, Any]:
        own = dict(self.properties.headers or {})
        return own | {"x-death": [dict(death) for death in self.deaths]} if self.deaths else own


@dataclass(slots=True)
class Broker:
    """Queues, delays and unacknowledged messages. Queues that no process of the run consumes are not kept."""

    clock: ManualClock
    ready: dict[str, list[Stored]] = field(default_factory=lambda: defaultdict(list))
    delayed: list[tuple[datetime, str, Stored]] = field(default_factory=list)
    consumed: set[str] = field(default_factory=set)
    held_until: dict[str, datetime] = field(default_factory=dict)
    # For the check of the checks: messages of this type are confirmed and forgotten.
    dropped_type: str = ""
    # Receives the body of each published message.
    record: Callable[[bytes], None] | None = None
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def publish(self, topology: Topology, exchange: str, key: str, body: bytes, properties: Any) -> bool:
        """Route a message; whether any queue is bound for it."""
        message = Stored(next(self._numbers), exchange, key, body, properties)
        if self.record is not None:
            self.record(body)
        if exchange == RETRY_EXCHANGE:
            self._delay(key, message)
            return True
        bound = (
            [key] if exchange == WORK_EXCHANGE else [name for name, types in topology.bindings.items() if key in types]
        )
        for queue in bound:
            if queue in self.consumed and message.type != self.dropped_type:
                self.ready[queue].append(message)
        return bool(bound)

    def waiting(self) -> list[str]:
        """Return the queues with messages that nothing holds back, in order of their names."""
        self._expire()
        now = self.clock.now()
        return sorted(
            queue for queue, messages in self.ready.items() if messages and self.held_until.get(queue, now) <= now
        )

    def next_delay(self) -> timedelta | None:
        """Return the time until a delayed message or a held queue is due; None without any."""
        now = self.clock.now()
        due = [at for at, _, _ in self.delayed] + [
            at for queue, at in self.held_until.items() if at > now and self.ready[queue]
        ]
        return max(min(due) - now, timedelta()) if due else None

    def hold(self, queue: str, until: datetime) -> None:
        """Deliver nothing of a queue for a while."""
        self.held_until[queue] = until

    def duplicate(self, queue: str, position: int) -> None:
        """Deliver a waiting message twice, as after a lost confirm."""
        messages = self.ready[queue]
        messages.append(replace(messages[position % len(messages)], number=next(self._numbers)))

    def duplicate_all(self, queue: str) -> None:
        """Deliver each waiting message twice, one after the other."""
        self.ready[queue] = [
            one for message in self.ready[queue] for one in (message, replace(message, number=next(self._numbers)))
        ]

    def give_back(self, queue: str, message: Stored) -> None:
        """Return an unacknowledged message to its place; after too many deliveries it is dead-lettered."""
        again = replace(message, deliveries=message.deliveries + 1)
        if again.deliveries > DELIVERIES_MAX and not queue.endswith(".dead"):
            death = {"queue": queue, "exchange": again.exchange, "routing-keys": [again.routing_key]}
            dead = dead_letter_queue_of(queue)
            moved = replace(
                again, exchange=_DEFAULT_EXCHANGE, routing_key=dead, deaths=(death, *again.deaths), deliveries=0
            )
            self.ready[dead].append(moved)
            return
        self.ready[queue].append(again)
        self.ready[queue].sort(key=lambda stored: stored.number)

    def _delay(self, queue: str, message: Stored) -> None:
        REACHED.add(f"message: {message.type} early")
        milliseconds = int(str((message.properties.headers or {})[DELAY_HEADER]))
        death = {"queue": f"{DELAY_EXCHANGE}.{milliseconds}", "exchange": RETRY_EXCHANGE, "routing-keys": [queue]}
        expired = replace(message, exchange=_DEFAULT_EXCHANGE, routing_key=queue, deaths=(death,))
        self.delayed.append((self.clock.now() + timedelta(milliseconds=milliseconds), queue, expired))

    def _expire(self) -> None:
        now = self.clock.now()
        for at, queue, message in [delayed for delayed in self.delayed if delayed[0] <= now]:
            self.delayed.remove((at, queue, message))
            self.ready[queue].append(replace(message, number=next(self._numbers)))


class Channel:
    """The part of a protocol channel that the product uses."""

    def __init__(self, bus: "SimulatedBus", queue: str = "") -> None:
        self.is_closed = False
        self.connection = _Capable
        self.unacknowledged: dict[int, Stored] = {}
        self._bus, self._queue = bus, queue
        self._tags = itertools.count(1)

    async def basic_publish(
        self, body: bytes, *, exchange: str, routing_key: str, properties: Any, mandatory: bool, **_options: Any
    ) -> None:
        if self._bus.drops("publish"):
            raise ConnectionResetError("the connection ended before the message")
        is_routed = self._bus.broker.publish(self._bus.topology, exchange, routing_key, body, properties)
        if mandatory and not is_routed:
            raise AssertionError(f"{exchange} has no queue for {routing_key}")
        if self._bus.drops("confirm"):
            raise ConnectionResetError("the connection ended before the confirm")

    async def basic_ack(self, delivery_tag: int, multiple: bool = False) -> None:
        if self._bus.drops("acknowledgement"):
            self._bus.drop_connection()
            raise ConnectionResetError("the connection ended before the acknowledgement")
        for tag in [tag for tag in self.unacknowledged if tag == delivery_tag or (multiple and tag < delivery_tag)]:
            del self.unacknowledged[tag]

    async def basic_nack(self, delivery_tag: int, multiple: bool = False, requeue: bool = True) -> None:
        self._bus.broker.give_back(self._queue, self.unacknowledged.pop(delivery_tag))

    def deliver(self, stored: Stored) -> ObservedMessage:
        tag = next(self._tags)
        self.unacknowledged[tag] = stored
        delivery = aiormq.spec.Basic.Deliver(
            "simulated", tag, stored.deliveries > 0, stored.exchange, stored.routing_key
        )
        properties = copy.copy(stored.properties)
        properties.headers = stored.headers
        header = ContentHeader(body_size=len(stored.body), properties=properties)
        return ObservedMessage(
            aiormq.abc.DeliveredMessage(
                delivery=delivery, header=header, body=stored.body, channel=cast("aiormq.abc.AbstractChannel", self)
            )
        )

    def close(self) -> None:
        """Deliver again what was not acknowledged."""
        self.is_closed = True
        for stored in self.unacknowledged.values():
            self._bus.broker.give_back(self._queue, stored)
        self.unacknowledged.clear()


class _Capable:
    """The capabilities of a connection that messages ask for."""

    basic_nack: ClassVar = True


class SimulatedBus(ObservedBus):
    """The connection of a process to the double. Its consumers register; `deliver` is their turn."""

    broker: ClassVar[Broker]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.losses: set[Loss] = set()
        self._publisher = Channel(self)
        self._openers: dict[str, Callable[[], OnMessage]] = {}
        self._channels: dict[str, tuple[Channel, OnMessage]] = {}

    @property
    def is_connected(self) -> bool:
        return True

    @property
    def consumers(self) -> Mapping[str, Callable[[], OnMessage]]:
        """The consumed queues."""
        return self._openers

    @property
    def held_queues(self) -> list[str]:
        """The queue of each message without an acknowledgement."""
        return [queue for queue, (channel, _) in self._channels.items() for _ in channel.unacknowledged]

    def drops(self, loss: Loss) -> bool:
        """Return whether the connection ends at this moment: once for each planned loss."""
        if loss not in self.losses:
            return False
        self.losses.discard(loss)
        REACHED.add(f"connection: lost {loss}")
        return True

    def drop_connection(self) -> None:
        """Every channel ends; consumers open new ones."""
        for channel, _ in self._channels.values():
            channel.close()
        self._channels.clear()

    async def deliver(self, queue: str, positions: Sequence[int]) -> int:
        """Handle messages of a queue together, the first at `positions[0]` and so on. Returns how many there were."""
        if queue not in self._channels:
            self._channels[queue] = Channel(self, queue), self._openers[queue]()
        channel, on_message = self._channels[queue]
        ready = self.broker.ready[queue]
        removed = [ready.pop(position % len(ready)) for position in positions if ready]
        ids = Counter(stored.properties.message_id for stored in removed)
        for stored in removed:
            if ids[stored.properties.message_id] > 1:
                REACHED.add(f"message: {stored.type} beside its duplicate")
            if stored.deliveries:
                REACHED.add(f"message: {stored.type} redelivered")
        await asyncio.gather(*(on_message(channel.deliver(stored)) for stored in removed))
        return len(removed)

    async def consume(self, queue: str, open_consumer: Callable[[], OnMessage]) -> None:
        self._openers[queue] = open_consumer
        self.broker.consumed.add(queue)
        await asyncio.Event().wait()

    async def close(self) -> None:
        self.drop_connection()

    async def measure_queues(self, names: Sequence[str]) -> dict[str, QueueLength]:
        return {name: QueueLength(len(self.broker.ready[name]), 1) for name in names}

    async def _publishing_channel(self) -> aiormq.Channel:
        return cast("aiormq.Channel", self._publisher)

    async def _drop_publishing_channel(self) -> None:
        """Keep the channel open after an unconfirmed message."""


def properties_of(row: OutboxRow, account: str) -> aiormq.spec.Basic.Properties:
    """Return the properties with which an account publishes a row."""
    return aiormq.spec.Basic.Properties(message_id=str(row.id), message_type=row.type, headers={}, user_id=account)
