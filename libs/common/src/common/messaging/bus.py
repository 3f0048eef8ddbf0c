"""RabbitMQ for a service: publish with confirms, consume with a retry ladder, receive broadcasts.

Each message carries the account of its publisher as `user_id`, which the broker compares with that of the connection.

A lost connection never stops the process: every loop reconnects and continues. aiormq cancels what waits for
a lost connection, and a frozen broker is silent, so each call of the library is `bounded` by a limit of ours.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast
from urllib.parse import parse_qs, unquote, urlsplit

import aio_pika
import aiormq
import aiormq.abc
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, AbstractQueue
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, DeliveryError, PublishError

from common.database.errors import is_unavailable
from common.messaging.topology import DELAY_HEADER, Topology, delay_header
from common.observability.logging import get_logger
from common.observability.outages import Outage
from common.primitives.limits import WAIT_LIMITS
from common.primitives.retry import jittered
from common.primitives.waiting import bounded
from contracts.topology import RETRY_EXCHANGE, WORK_EXCHANGE

log = get_logger(__name__)

CONTENT_TYPE: Final = "application/cloudevents+json"
# Enough to saturate two cores while the oldest confirm is pending; more would be repeated after a crash.
PREFETCH: Final = 50
CONFIRM_SECONDS_MAX: Final = 10.0
# An acknowledgement waits for the socket only. After this the channel is given up, and the broker delivers again.
SETTLE_SECONDS_MAX: Final = 10.0
# A few answers to a new connection; the others are in addition to the time for connecting.
CHECK_SECONDS_MAX: Final = 5.0
# A channel with its declaration, and `on_open`, which reads the database.
OPEN_SECONDS_MAX: Final = 20.0
# A channel and the confirms; the relay holds a transaction in the meantime.
PUBLISH_SECONDS_MAX: Final = 15.0
CLOSE_SECONDS_MAX: Final = 3.0
RECONNECT_SECONDS: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
# aiormq gives a silent broker up after 33 s with it. `heartbeat` in the query of the address replaces it.
HEARTBEAT_SECONDS: Final = 10
_BROADCASTS: Final = "broadcasts"

_CONNECTION_LOST = (*CONNECTION_EXCEPTIONS, asyncio.TimeoutError, asyncio.InvalidStateError)

OnMessage = Callable[[AbstractIncomingMessage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message for the broker: to the exchange by its type, or to a queue of the same service."""

    body: bytes
    message_id: str
    type: str
    queue: str | None
    headers: Mapping[str, object]


class _Connection(aio_pika.Connection):
    """A connection that `Bus` closes."""

    def __del__(self) -> None:
        """aio-pika's finalizer makes a coroutine, which no loop runs when the garbage collector calls it."""


class BrokerUnavailable(ConnectionError):
    """The broker did not respond."""


class QueueLength(NamedTuple):
    """The broker's counters of a queue: ready messages and consumers."""

    waiting: int
    consumers: int


class Bus:
    """The broker connection of a process, with separate channels for publishing and consuming."""

    def __init__(
        self, url: str, topology: Topology, name: str, connect_seconds_max: float = WAIT_LIMITS.broker_connect
    ) -> None:
        self._connect_seconds_max = connect_seconds_max
        self._url, self.topology, self._name = url, topology, name
        self._account = unquote(urlsplit(url).username or "guest")
        self._heartbeat_seconds = int(parse_qs(urlsplit(url).query).get("heartbeat", [HEARTBEAT_SECONDS])[0])
        self._connection: AbstractConnection | None = None
        self._publishing: AbstractChannel | None = None
        self._connecting = asyncio.Lock()
        self._closing = False
        # One log entry for the process, not one for each consumer.
        self._outage = Outage(log, "broker unavailable", "broker available again")
        # The start time of each interruption, by the consumed queue.
        self._not_consuming_since: dict[str, float] = {_BROADCASTS: time.monotonic()}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_connected(self) -> bool:
        # `is_closed` covers our own close only; a lost broker clears `connected`.
        return self._connection is not None and self._connection.connected.is_set()

    @property
    def is_consuming(self) -> bool:
        """Return whether every queue that is consumed has its consumer."""
        return not self._not_consuming_since

    def seconds_without_broadcasts(self) -> float:
        """Seconds without a subscription to broadcasts; 0 while subscribed."""
        since = self._not_consuming_since.get(_BROADCASTS)
        return 0.0 if since is None else time.monotonic() - since

    async def close(self) -> None:
        """Close the connection; the broker requeues unacknowledged messages, and their handlers are cancelled."""
        self._closing = True
        if self._connection is not None:
            with suppress(*_CONNECTION_LOST):
                await bounded(self._connection.close(), CLOSE_SECONDS_MAX)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def publish(self, messages: Sequence[Outgoing]) -> list[bool]:
        """Publish persistent messages with pipelined confirms. Returns for each message whether it was confirmed.

        A message is mandatory when the topology binds a queue for it; a returned one is unconfirmed. Other events need
        no queue. An unavailable broker raises nothing: all messages are unconfirmed.
        """
        try:
            confirmed = await bounded(self._publish_all(messages), self._connect_seconds_max + PUBLISH_SECONDS_MAX)
        except _CONNECTION_LOST as error:
            self._outage.failed(error)
            confirmed = [False] * len(messages)
        if not all(confirmed):
            # After the leader of a quorum queue fails, a channel may receive only nacks, so a new one is opened.
            await self._drop_publishing_channel()
        return confirmed

    async def _publish_all(self, messages: Sequence[Outgoing]) -> list[bool]:
        channel = await self._publishing_channel()
        if len(messages) == 1:
            return [await self._publish_one(channel, messages[0])]
        return await asyncio.gather(*(self._publish_one(channel, message) for message in messages))

    async def _publish_one(self, channel: aiormq.Channel, message: Outgoing) -> bool:
        try:
            await channel.basic_publish(
                message.body,
                exchange=WORK_EXCHANGE if message.queue else self.topology.events_exchange,
                routing_key=message.queue or message.type,
                properties=self._persistent(message, message.headers),
                mandatory=message.queue is not None or self.topology.listeners_of(message.type),
                timeout=CONFIRM_SECONDS_MAX,
                # The confirm suffices.
                wait=False,
            )
        except PublishError:
            log.error("message returned as unroutable", type=message.type, queue=message.queue)
            return False
        except (DeliveryError, *_CONNECTION_LOST) as error:
            log.warning("message not confirmed", type=message.type, error=repr(error))
            return False
        return True

    async def delay(self, message: Outgoing, queue: str, seconds: float) -> None:
        """Delivers a message to `queue` again after about `seconds`. Raises when the broker does not confirm."""
        await bounded(self._delay(message, queue, seconds), self._connect_seconds_max + PUBLISH_SECONDS_MAX)

    async def _delay(self, message: Outgoing, queue: str, seconds: float) -> None:
        channel = await self._publishing_channel()
        waiting = self._persistent(message, {**message.headers, DELAY_HEADER: delay_header(seconds)})
        waiting.expiration = str(int(jittered(seconds) * 1000))
        await channel.basic_publish(
            message.body,
            exchange=RETRY_EXCHANGE,
            routing_key=queue,
            properties=waiting,
            mandatory=True,
            timeout=CONFIRM_SECONDS_MAX,
        )

    async def measure_queues(self, names: Sequence[str]) -> dict[str, QueueLength]:
        """Return the broker's counters of these queues. A passive declaration needs no permission.

        Raises BrokerUnavailable.
        """
        try:
            found = await bounded(self._declare_passively(names), self._connect_seconds_max + CONFIRM_SECONDS_MAX)
        except _CONNECTION_LOST as error:
            raise BrokerUnavailable(repr(error)) from error
        return {name: QueueLength(one.message_count or 0, one.consumer_count or 0) for name, one in found.items()}

    async def _declare_passively(self, names: Sequence[str]) -> dict[str, aiormq.spec.Queue.DeclareOk]:
        channel = await (await self._connected()).channel(publisher_confirms=False)
        try:
            declare = (await _underlay(channel)).queue_declare
            return {name: await declare(name, passive=True) for name in names}
        finally:
            await channel.close()

    async def consume(self, queue: str, open_consumer: Callable[[], OnMessage]) -> None:
        """Consumes a work queue until cancelled, and reconnects after each loss of the connection.

        `open_consumer` returns the callback of a new channel. An old channel's messages are delivered again.
        """

        async def open_queue(channel: AbstractChannel) -> AbstractQueue:
            return await channel.get_queue(queue, ensure=False)

        await self._consume_forever(queue, open_queue, open_consumer)

    async def listen(
        self, types: Sequence[str], on_message: OnMessage, on_open: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Receives broadcasts on an exclusive queue of this process until cancelled.

        Broadcasts during an outage are lost; `on_open` runs after each connection to catch up.
        """

        async def open_queue(channel: AbstractChannel) -> AbstractQueue:
            own = await channel.declare_queue(exclusive=True, auto_delete=True)
            for event_type in types:
                await own.bind(self.topology.events_exchange, routing_key=event_type)
            if on_open is not None:
                await on_open()
            return own

        await self._consume_forever(_BROADCASTS, open_queue, lambda: on_message)

    async def _consume_forever(
        self,
        name: str,
        open_queue: Callable[[AbstractChannel], Awaitable[AbstractQueue]],
        open_consumer: Callable[[], OnMessage],
    ) -> None:
        failures = 0
        while True:
            self._not_consuming_since.setdefault(name, time.monotonic())
            try:
                opening = self._open_consumer(open_queue, open_consumer)
                channel = await bounded(opening, self._connect_seconds_max + OPEN_SECONDS_MAX)
                self._not_consuming_since.pop(name, None)
                if not self._not_consuming_since:
                    self._outage.ended()
                failures = 0
                # As long as the channel lives, so without a limit: the heartbeat ends it.
                await bounded(_closed(channel), None)
                if self._closing:
                    return
                self._outage.failed(ConnectionError(f"the channel of {name} was closed"))
            except Exception as error:
                # `on_open` reads the database.
                if not (isinstance(error, _CONNECTION_LOST) or is_unavailable(error)):
                    raise
                self._outage.failed(error)
            await asyncio.sleep(jittered(RECONNECT_SECONDS[min(failures, len(RECONNECT_SECONDS) - 1)]))
            failures += 1

    async def _open_consumer(
        self,
        open_queue: Callable[[AbstractChannel], Awaitable[AbstractQueue]],
        open_consumer: Callable[[], OnMessage],
    ) -> AbstractChannel:
        channel = await (await self._connected()).channel(publisher_confirms=False)
        await channel.set_qos(prefetch_count=PREFETCH)
        queue, underlay = await open_queue(channel), await _underlay(channel)
        # The broker cancels the consumer of a deleted queue, and the channel would stay open without one. A task of
        # ours, because the library's reader, which runs this, receives the end of the channel.
        underlay.on_consumer_cancel_callbacks.add(lambda _: self._start(_close(channel)))
        await underlay.basic_consume(queue.name, self._on_delivery(open_consumer()))
        return channel

    def _on_delivery(self, on_message: OnMessage) -> aiormq.abc.ConsumerCallback:
        async def on_delivery(delivery: aiormq.abc.DeliveredMessage) -> None:
            # A task of ours: aiormq cancels its own with their channel, also in the middle of a call to a provider.
            self._start(_handle(on_message, aio_pika.IncomingMessage(delivery)))

        return on_delivery

    def _start(self, work: Awaitable[None]) -> None:
        """Start a task that ends with the bus."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connected(self) -> AbstractConnection:
        async with self._connecting:
            if self._connection is None or not self.is_connected:
                # Within the lock: nothing may hold it for ever.
                self._connection = await bounded(self._connect(), self._connect_seconds_max + CHECK_SECONDS_MAX)
                self._publishing = None
            return self._connection

    async def _connect(self) -> AbstractConnection:
        connection = await aio_pika.connect(
            self._url,
            timeout=self._connect_seconds_max,
            heartbeat=self._heartbeat_seconds,
            client_properties={"connection_name": self._name},
            connection_class=_Connection,
        )
        try:
            channel = await connection.channel(publisher_confirms=False)
            await self.topology.check(channel)
            await channel.close()
        except BaseException:
            with suppress(*_CONNECTION_LOST):
                await bounded(connection.close(), CLOSE_SECONDS_MAX)
            raise
        return connection

    def _persistent(self, message: Outgoing, headers: Mapping[str, Any]) -> aiormq.spec.Basic.Properties:
        return aiormq.spec.Basic.Properties(
            message_id=message.message_id,
            message_type=message.type,
            content_type=CONTENT_TYPE,
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
            headers=dict(headers),
            user_id=self._account,
        )

    async def _publishing_channel(self) -> aiormq.Channel:
        connection = await self._connected()
        if self._publishing is None or self._publishing.is_closed:
            self._publishing = await connection.channel(publisher_confirms=True, on_return_raises=True)
        return await _underlay(self._publishing)

    async def _drop_publishing_channel(self) -> None:
        channel, self._publishing = self._publishing, None
        if channel is not None:
            await _close(channel)


async def _underlay(channel: AbstractChannel) -> aiormq.Channel:
    """Return the protocol's channel, which makes no object and no tasks for each message (decision 50)."""
    return cast("aiormq.Channel", await channel.get_underlay_channel())


async def _close(channel: AbstractChannel) -> None:
    with suppress(*_CONNECTION_LOST):
        await bounded(channel.close(), CLOSE_SECONDS_MAX)


async def _closed(channel: AbstractChannel) -> None:
    await channel.closed()


async def _handle(on_message: OnMessage, message: AbstractIncomingMessage) -> None:
    try:
        await on_message(message)
    except Exception:
        # A fault of ours: the broker delivers the message again when the channel closes, at its consumer time-out at
        # the latest.
        log.exception("message not settled: its handler failed", type=message.type)
