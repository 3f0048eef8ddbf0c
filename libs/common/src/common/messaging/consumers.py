"""Consumption of messages: inbox, handler, commit, acknowledgement; or the retry ladder; or the dead letters.

Events that arrive while others are handled, or within `linger_seconds`, share a transaction, whatever their queues; one
that fails gets its own afterwards. A work item always has one. Handlers of a transaction run in the order of the
aggregates that they lock (`lock_by`), so that two transactions do not deadlock (decision 102).

| Outcome of a delivery | Action |
|---|---|
| the handler commits | acknowledge |
| it fails, retries are left | publish to a delay queue with confirm, acknowledge: the inbox ignores repetitions |
| it fails the last attempt, or permanently | store as a dead letter with an alert in one transaction, acknowledge |
| the named service did not publish it | the same with a SEV-1 alert, before any handler; never replayed |
| the database or broker is unavailable | keep unacknowledged, or delay without counting an attempt |
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final

import msgspec
from aio_pika.abc import AbstractIncomingMessage
from aio_pika.exceptions import CONNECTION_EXCEPTIONS
from opentelemetry.trace import SpanKind

from common.auth.caller import THE_SERVICE
from common.database.errors import TransactionRequired, is_unavailable
from common.database.unit_of_work import Database, UnitOfWork
from common.messaging import dead_letters
from common.messaging.batches import Arrival, Arrivals, Batches, Channel
from common.messaging.bus import CLOSE_SECONDS_MAX, SETTLE_SECONDS_MAX, Bus, OnMessage, Outgoing
from common.messaging.delivery_headers import ATTEMPT_HEADER, attempt_of, own_headers, replay_of, trace_of
from common.messaging.faults import NotYetKnown, PermanentFault, UnderWay
from common.messaging.inbox import MessageKey, consuming, consuming_late
from common.messaging.messages import Handlers, Outcome, Received, Subscription, read_envelope, read_payload
from common.messaging.provenance import UnprovenPublisher, check_publisher, route_before_dead_lettering, route_of
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.clock import SystemClock
from common.primitives.waiting import bounded, never_ending
from contracts.event import Event

log = get_logger(__name__)

UNAVAILABLE_WAIT_SECONDS: Final = 1.0
# Each repeats the transaction of the others. With more the cause is rarely a message.
FAILURES_OF_BATCH_MAX: Final = 3


class HandlerFailed(Exception):
    """One of several messages failed, so that none has had an effect."""

    def __init__(self, position: int) -> None:
        self.position = position


class Consumers:
    """All subscriptions and work items of one service, bound to its database, its bus and its dependencies."""

    def __init__(
        self,
        service: str,
        database: Database,
        bus: Bus,
        dependencies: object,
        handlers: Handlers,
        *,
        account_required: bool = True,
    ) -> None:
        """Require the broker's validation of each publisher's account (`BROKER_VERIFIED_PUBLISHERS`), if
        `account_required`.
        """
        subscriptions, work_items = handlers.subscriptions, handlers.work_items
        self._service, self._database, self._bus, self._dependencies = service, database, bus, dependencies
        self._by_type: Mapping[str, Sequence[Subscription]] = _grouped(subscriptions)
        self._work_by_queue = {item.queue: item for item in work_items}
        self._queues = {f"{service}.{line.event.publisher()}" for line in subscriptions} | set(self._work_by_queue)
        self._account_required = account_required
        self._lock_by = handlers.lock_by
        self._alone = {line.event.TYPE for line in subscriptions if line.alone}
        self._batches = Batches(self._process_batch, handlers.linger_seconds)
        self._under_way = 0
        telemetry.MESSAGES_UNDER_WAY.set_function(lambda: self._under_way)

    async def run(self) -> None:
        """Consumes every queue of the service until cancelled; then waits for running handlers."""
        try:
            async with asyncio.TaskGroup() as group:
                for queue in sorted(self._queues):
                    consuming = self._bus.consume(queue, partial(self._on_message, queue))
                    group.create_task(never_ending(f"consumer of {queue}", consuming))
                dead = f"{self._service}.dead"
                storing = self._bus.consume(dead, lambda: self._on_dead_letter)
                group.create_task(never_ending(f"consumer of {dead}", storing))
        finally:
            await self._drain()

    async def _drain(self) -> None:
        for _ in range(100):
            if self._under_way == 0:
                return
            await asyncio.sleep(0.05)

    def _on_message(self, queue: str) -> OnMessage:
        """Return the callback of a new channel."""
        if queue in self._work_by_queue:
            return lambda message: self._process(queue, message)
        return self._batches.of_queue(queue)

    async def _process_batch(self, batch: Arrivals, is_oldest: Callable[[Channel], bool]) -> None:
        alone = [one for one in batch if one.message.type in self._alone or replay_of(one.message) is not None]
        together = [one for one in batch if one not in alone]
        alone += await self._process_together(together, is_oldest, alone) if len(together) > 1 else together
        await asyncio.gather(*(self._process(one.channel.queue, one.message) for one in alone))

    async def _process_together(
        self, batch: Arrivals, is_oldest: Callable[[Channel], bool], unsettled: Arrivals
    ) -> Arrivals:
        """Handle the messages in one transaction. Returns those that it did not handle: none of them has had an effect.

        After a failure the transaction is repeated without the message that failed. `unsettled` are handled later.
        """
        began, together, alone = time.perf_counter(), list(batch), list[Arrival]()
        self._under_way += len(batch)
        try:
            while len(alone) < FAILURES_OF_BATCH_MAX and len(together) > 1:
                messages = [self._read(one.channel.queue, one.message) for one in together]
                try:
                    await self.handle(together[0].channel.queue, messages)
                except HandlerFailed as failure:
                    alone.append(together.pop(failure.position))
                    queue, error = alone[-1].channel.queue, repr(failure.__cause__)
                    log.info("message handled alone", queue=queue, count=len(batch), error=error)
                    continue
                seconds = time.perf_counter() - began
                await self._settle_batch(
                    together, [received for received, _ in messages], seconds, is_oldest, [*alone, *unsettled]
                )
                return alone
        except Exception as error:
            queues = sorted({one.channel.queue for one in batch})
            log.info("messages handled one by one", queues=queues, count=len(batch), error=repr(error))
        finally:
            self._under_way -= len(batch)
        return batch

    async def _settle_batch(
        self,
        together: Arrivals,
        messages: Sequence[Received],
        seconds: float,
        is_oldest: Callable[[Channel], bool],
        alone: Arrivals,
    ) -> None:
        """Acknowledges handled messages: those of a channel at once if every earlier message of it is settled."""
        outcomes = dict[Channel, str]()
        unsettled = {one.channel for one in alone}
        for one in reversed(together):
            if one.channel not in outcomes and one.channel not in unsettled and is_oldest(one.channel):
                outcomes[one.channel] = await self._settle(one.message, None, "done", all_before=True)
        for one, received in zip(together, messages, strict=True):
            outcome = outcomes.get(one.channel) or await self._settle(one.message, None, "done")
            _measure_lag(one.channel.queue, received)
            telemetry.MESSAGE_SECONDS.labels(one.channel.queue, received.type).observe(seconds)
            telemetry.MESSAGES_HANDLED.labels(one.channel.queue, received.type, outcome).inc()

    async def _process(self, queue: str, message: AbstractIncomingMessage) -> None:
        attempt = attempt_of(message)
        event_type = message.type or queue
        self._under_way += 1
        try:
            with (
                telemetry.span(
                    f"{queue} {event_type}",
                    SpanKind.CONSUMER,
                    trace_of(message),
                    telemetry.message_attributes(message.exchange or "", queue, event_type, message.message_id or ""),
                ),
                telemetry.MESSAGE_SECONDS.labels(queue, event_type).time(),
            ):
                try:
                    received, data = self._read(queue, message)
                    event_type = received.type
                    await self.handle(queue, [(received, data)])
                    await self._clear_alert_of_replay(message)
                except Exception as error:
                    telemetry.record_failure(error)
                    outcome = await self._after_failure(queue, message, attempt, error)
                else:
                    outcome = await self._settle(message, None, "done")
                    _measure_lag(queue, received)
                telemetry.MESSAGES_HANDLED.labels(queue, event_type, outcome).inc()
        finally:
            self._under_way -= 1

    def _read(self, queue: str, message: AbstractIncomingMessage) -> tuple[Received, msgspec.Raw]:
        """Decode the envelope and checks its publisher. Raises PermanentFault."""
        attempt = attempt_of(message)
        is_last_attempt = self._bus.topology.ladder.is_last(attempt)
        received, data = read_envelope(message.body, attempt, is_last_attempt=is_last_attempt, trace=trace_of(message))
        check_publisher(queue, route_of(message), received, account_required=self._account_required)
        return received, data

    async def _clear_alert_of_replay(self, message: AbstractIncomingMessage) -> None:
        """Clear the alert of a replayed dead letter, before the acknowledgement: a repetition clears it, too."""
        if (first_id := replay_of(message)) is not None:
            async with self._database.unit_of_work(acting_as=THE_SERVICE) as uow:
                dead_letters.clear_replayed_alert(uow, self._service, first_id)

    async def _after_failure(self, queue: str, message: AbstractIncomingMessage, attempt: int, error: Exception) -> str:
        if isinstance(error, PermanentFault):
            return await self._settle(message, self._dead_letter(queue, message, attempt, error), "dead")
        if is_unavailable(error):
            return await self._settle(message, self._wait(queue, message, attempt), "waiting")
        if isinstance(error, NotYetKnown):
            log.info(
                "dependency not received yet, retrying",
                queue=queue,
                type=message.type,
                attempt=attempt,
                error=repr(error),
            )
        else:
            log.warning(
                "message failed", queue=queue, type=message.type, attempt=attempt, error=repr(error), exc_info=error
            )
        return await self._settle(message, self._retry_or_dead_letter(queue, message, attempt, error), "failed")

    async def handle(self, queue: str, messages: Sequence[tuple[Received, msgspec.Raw]]) -> None:
        """Pass messages to their handlers, each once: events in one transaction. `queue` is that of the first.

        Raises the exception of a handler; of several messages HandlerFailed, which has it as its cause.
        """
        if (item := self._work_by_queue.get(queue)) is not None:
            for received, data in messages:
                await item.handler(read_payload(data, item.payload), received, self._dependencies)
            return
        handlers: list[tuple[int, Subscription, Received, Event]] = [
            (position, subscription, received, read_payload(data, subscription.event))
            for position, (received, data) in enumerate(messages)
            for subscription in self._by_type.get(received.type, ())
        ]
        handlers.sort(key=lambda line: self._lock_key(line[2], line[3]))
        keys = [(received.event_id, subscription.consumer) for _, subscription, received, _ in handlers]
        is_shared = len(messages) > 1
        if handlers and len({*keys}) == len(keys) and all(line[1].starts_late for line in handlers):
            is_single = len(handlers) == 1
            with suppress(TransactionRequired):
                async with consuming_late(self._database, keys, is_shared=is_shared, is_single=is_single) as uow:
                    await self._call(handlers, keys, {*keys}, uow)
                return
        async with consuming(self._database, keys, is_shared=is_shared) as (uow, new):
            await self._call(handlers, keys, new, uow)

    async def _call(
        self,
        handlers: Sequence[tuple[int, Subscription, Received, Event]],
        keys: Sequence[MessageKey],
        new: set[MessageKey],
        uow: UnitOfWork,
    ) -> None:
        """Call the handlers of the messages that are new."""
        for key, (position, subscription, received, event) in zip(keys, handlers, strict=True):
            if key not in new:
                telemetry.INBOX_DUPLICATES.labels(subscription.consumer).inc()
                continue
            # The broker may have delivered a message twice at once.
            new.remove(key)
            if not uow.is_shared:
                outcome = await subscription.handler(event, received, uow, self._dependencies)
            else:
                own, exchange = f"{self._service}.{subscription.event.publisher()}", self._bus.topology.events_exchange
                attributes = telemetry.message_attributes(exchange, own, received.type, str(received.event_id))
                try:
                    with telemetry.span(f"{own} {received.type}", SpanKind.CONSUMER, received.trace, attributes):
                        outcome = await subscription.handler(event, received, uow, self._dependencies)
                except TransactionRequired:
                    raise
                except Exception as error:
                    raise HandlerFailed(position) from error
            if outcome is Outcome.STALE:
                telemetry.STALE_EVENTS.labels(received.type).inc()

    def _lock_key(self, received: Received, event: object) -> tuple[str, ...]:
        """Return the place of an event in the order of locks; events of one place keep the order of their arrival."""
        return *(str(getattr(event, name, None) or "") for name in self._lock_by), received.subject

    async def _settle(
        self,
        message: AbstractIncomingMessage,
        before: Awaitable[None] | None,
        outcome: str,
        *,
        all_before: bool = False,
    ) -> str:
        """Awaits `before`, then acknowledges the message; after any error it is delivered again.

        `all_before` acknowledges all earlier messages of the channel as well. So no message may stay unsettled.
        """
        try:
            if before is not None:
                await before
            await bounded(message.ack(multiple=all_before), SETTLE_SECONDS_MAX)
        except Exception as error:
            log.warning("message requeued: acknowledgement failed", error=repr(error))
            await self._give_back(message)
            return "returned"
        return outcome

    async def _give_back(self, message: AbstractIncomingMessage) -> None:
        await asyncio.sleep(UNAVAILABLE_WAIT_SECONDS)
        try:
            await bounded(message.nack(requeue=True), SETTLE_SECONDS_MAX)
        except (*CONNECTION_EXCEPTIONS, asyncio.InvalidStateError):
            # The broker redelivers the messages of a closed channel. One that takes no frame is closed here.
            log.info("message requeued with its channel")
            with suppress(*CONNECTION_EXCEPTIONS, asyncio.InvalidStateError):
                await bounded(message.channel.close(), CLOSE_SECONDS_MAX)

    async def _wait(self, queue: str, message: AbstractIncomingMessage, attempt: int) -> None:
        await self._delay(queue, message, attempt, self._bus.topology.ladder.delays_seconds[0])

    async def _retry_or_dead_letter(
        self, queue: str, message: AbstractIncomingMessage, attempt: int, error: Exception
    ) -> None:
        ladder = self._bus.topology.ladder
        delay = ladder.delay_after(attempt)
        if delay is None and isinstance(error, UnderWay):
            await self._delay(queue, message, attempt, ladder.delays_seconds[-1])
        elif delay is None:
            await self._dead_letter(queue, message, attempt, error)
        else:
            await self._delay(queue, message, attempt + 1, delay)

    async def _delay(self, queue: str, message: AbstractIncomingMessage, next_attempt: int, seconds: float) -> None:
        headers = {**own_headers(message), ATTEMPT_HEADER: next_attempt}
        again = Outgoing(message.body, message.message_id or "", message.type or queue, queue, headers)
        await self._bus.delay(again, queue, seconds)

    async def _dead_letter(self, queue: str, message: AbstractIncomingMessage, attempt: int, error: Exception) -> None:
        is_unproven = isinstance(error, UnprovenPublisher)
        dead_letter = dead_letters.DeadLetter(
            queue=queue,
            event_type=message.type or queue,
            message_id=message.message_id,
            body=message.body,
            headers=own_headers(message),
            error=f"{type(error).__name__}: {error}"[:500],
            attempts=attempt,
            is_unproven=is_unproven,
        )
        # `when_exhausted` trusts the content of the item, which a forged message must not exploit.
        item = None if is_unproven else self._work_by_queue.get(queue)
        async with self._database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if item is not None and item.when_exhausted is not None:
                try:
                    received, data = read_envelope(message.body, attempt, is_last_attempt=True)
                    await item.when_exhausted(read_payload(data, item.payload), received, uow, dead_letter.error)
                except PermanentFault:
                    await dead_letters.store_dead_letter(uow, self._service, dead_letter)
            else:
                await dead_letters.store_dead_letter(uow, self._service, dead_letter)
        telemetry.DEAD_LETTERS.labels(queue).inc()

    async def _on_dead_letter(self, message: AbstractIncomingMessage) -> None:
        """Store a message that the broker dead-lettered, because its consumer crashed too often."""
        dead_letter_queue = f"{self._service}.dead"
        queue, fault = dead_letter_queue, PermanentFault("the delivery limit of the queue was reached")
        try:
            queue, route = route_before_dead_lettering(message, dead_letter_queue)
            received, _ = read_envelope(message.body, 1, is_last_attempt=True)
            check_publisher(queue, route, received, account_required=self._account_required)
        except PermanentFault as error:
            fault = error
        await self._settle(message, self._dead_letter(queue, message, attempt_of(message), fault), "dead")


def _measure_lag(queue: str, received: Received) -> None:
    """Observes the age of the message; not below zero, because two machines' clocks are compared."""
    try:
        age = SystemClock().now() - datetime.fromisoformat(received.time)
    except (ValueError, TypeError):
        # The time is set by the publisher and used for this metric only; the message is handled already.
        log.warning("message lag not measured: invalid time in the envelope", queue=queue, type=received.type)
    else:
        telemetry.MESSAGE_LAG_SECONDS.labels(queue).observe(max(0.0, age.total_seconds()))


def _grouped(subscriptions: Sequence[Subscription]) -> dict[str, list[Subscription]]:
    by_type: dict[str, list[Subscription]] = {}
    for line in subscriptions:
        by_type.setdefault(line.event.TYPE, []).append(line)
    return by_type
