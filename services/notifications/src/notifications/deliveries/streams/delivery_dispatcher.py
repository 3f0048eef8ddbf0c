"""The dispatcher of a worker: claims due deliveries, sends them side by side, and records their outcomes in batches."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from opentelemetry.trace import SpanKind

from common.observability import telemetry
from common.observability.logging import get_logger
from notifications.deliveries.clients.delivery_sender import ChannelProvider, ClaimedDelivery, DeliverySender
from notifications.deliveries.domain.devices import circuit_name
from notifications.deliveries.store.queue import delivery_queue_of
from notifications.deliveries.use_cases.deliveries.attempt_delivery import Outcome
from notifications.deliveries.use_cases.deliveries.claim_deliveries import claim_deliveries
from notifications.deliveries.use_cases.deliveries.record_outcomes import record_outcomes
from notifications.deliveries.use_cases.deliveries.send_delivery import send_delivery

log: Final = get_logger(__name__)

# Finds retries, the ends of quiet hours and pauses, and deliveries whose wake-up was lost.
POLL_SECONDS: Final = 2.0
# Their deliveries may be sent by the process that makes them. A push needs its device first, and the messaging app the
# state of its pause.
SENT_AT_ONCE: Final = frozenset({"sms", "email"})
# The first outcome of a batch waits this long for the calls under way: they share a commit. It holds its place
# meanwhile, so it waits less while other deliveries need one.
LINGER_SECONDS: Final = 0.05
BACKLOG_LINGER_SECONDS: Final = 0.02
# Calls under way have this long at the end of the process; the sweep of another worker resolves the rest.
DRAIN_SECONDS: Final = 5.0
DRAIN_STEP_SECONDS: Final = 0.05


class DeliveryDispatcher:
    """Sends due deliveries, at most `limits[channel]` of a channel at once, so that a hanging provider delays no other
    channel.

    The deliveries of a worker that dies have an unknown outcome (`deliveries.use_cases.deliveries`). The limits bound
    their number. A waiting delivery is unclaimed, and no provider was called for it.
    """

    def __init__(self, sender: DeliverySender, limits: Mapping[str, int]) -> None:
        self._sender, self._limits = sender, limits
        self._wakeup = asyncio.Event()
        self._is_running = False
        self._under_way: Counter[str] = Counter()
        # Places of deliveries that are not committed yet; they count as under way.
        self._reserved = 0
        # Channels that may have more due deliveries than were claimed.
        self._backlogged: set[str] = set()
        self._batches: set[asyncio.Task[None]] = set()
        self._calls = 0
        self._calls_ended = asyncio.Event()
        self._outcomes: list[tuple[Outcome, asyncio.Future[None]]] = []
        self._recording: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Claim due deliveries at once."""
        self._wakeup.set()

    @property
    def is_running(self) -> bool:
        """Return whether this process sends deliveries."""
        return self._is_running

    def reserve(self, channel: str) -> Sequence[ChannelProvider]:
        """Reserve a place for a delivery that a transaction inserts as claimed; return the providers that may send it.

        None when the delivery must be queued: the channel is paused, has no free place, or older deliveries wait for
        one.
        """
        if not self._is_running or channel not in SENT_AT_ONCE or channel in self._backlogged:
            return ()
        if self._under_way[channel] >= self._limits[channel]:
            self._backlogged.add(channel)
            return ()
        providers = self._sender.providers_for(channel, None)
        while providers and self._sender.circuits.of(circuit_name(providers[0].provider, None)).admit() is not None:
            providers.pop(0)
        if providers:
            self._under_way[channel] += 1
            self._reserved += 1
        return providers

    def release(self, channel: str) -> None:
        """Give back the place of a delivery that was not committed."""
        self._reserved -= 1
        self._free_place(channel)

    def start(self, claimed: Sequence[ClaimedDelivery]) -> None:
        """Send deliveries with reserved places, whose claims are committed."""
        self._reserved -= len(claimed)
        self._calls += len(claimed)
        self._start(claimed)

    async def run(self) -> None:
        """Dispatch until cancelled; then wait for the calls under way."""
        self._is_running = True
        try:
            while True:
                self._wakeup.clear()
                self._start(await self._claim())
                if not self._backlogged & self._free().keys():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL_SECONDS):
                            await self._wakeup.wait()
        except asyncio.CancelledError:
            self._is_running = False
            await self._drain()
            raise

    async def _drain(self) -> None:
        """Wait for the calls under way, and for transactions that are about to commit claims."""
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while self._batches or self._reserved:
                    await asyncio.wait([*self._batches, asyncio.create_task(asyncio.sleep(DRAIN_STEP_SECONDS))])

    def _start(self, claimed: Sequence[ClaimedDelivery]) -> None:
        if claimed:
            batch = asyncio.create_task(self._send(claimed))
            self._batches.add(batch)
            batch.add_done_callback(self._batches.discard)

    async def run_once(self) -> int:
        """Claim, send and record one batch; return the number of claimed deliveries."""
        claimed = await self._claim()
        await self._send(claimed)
        return len(claimed)

    async def _claim(self) -> Sequence[ClaimedDelivery]:
        free = self._free()
        if not free:
            return ()
        batch = await claim_deliveries(self._sender, free)
        found = Counter[str](delivery.channel for delivery in batch.due)
        self._backlogged -= free.keys()
        self._backlogged |= {channel for channel, places in free.items() if found[channel] == places}
        self._under_way.update(claimed.delivery.channel for claimed in batch.claimed)
        self._calls += len(batch.claimed)
        return batch.claimed

    def _free(self) -> dict[str, int]:
        """Return the free places of each channel. A backlogged channel is filled up in batches; a paused one stays
        empty.
        """
        free = {channel: limit - self._under_way[channel] for channel, limit in self._limits.items()}
        return {
            channel: places
            for channel, places in free.items()
            if places >= (max(1, self._limits[channel] // 4) if channel in self._backlogged else 1)
            and not self._sender.is_paused(channel)
        }

    async def _send(self, batch: Sequence[ClaimedDelivery]) -> None:
        await asyncio.gather(*(self._deliver(claimed) for claimed in batch))

    async def _deliver(self, claimed: ClaimedDelivery) -> None:
        """Send and record one delivery. Its place is free after the record."""
        channel, queue = claimed.delivery.channel, delivery_queue_of(claimed.delivery.channel)
        trace = {"traceparent": claimed.delivery.traceparent or ""}
        result = "failed"
        try:
            with telemetry.span(queue, SpanKind.CONSUMER, trace), telemetry.MESSAGE_SECONDS.labels(queue, queue).time():
                try:
                    outcome = await send_delivery(claimed, self._sender)
                finally:
                    self._calls -= 1
                    if self._calls == 0:
                        self._calls_ended.set()
                await self._record(outcome)
                result = "done" if outcome.attempt.status == "sent" else "failed"
        except Exception as error:
            # The sweep resolves the claim.
            log.error("delivery without a recorded outcome", delivery_id=str(claimed.delivery.id), exc_info=error)
        finally:
            self._free_place(channel)
        telemetry.MESSAGES_HANDLED.labels(queue, queue, result).inc()
        if claimed.delivery.due_at is not None:
            lag = self._sender.clock.now() - claimed.delivery.due_at
            telemetry.MESSAGE_LAG_SECONDS.labels(queue).observe(max(0.0, lag.total_seconds()))

    def _free_place(self, channel: str) -> None:
        self._under_way[channel] -= 1
        if channel in self._backlogged:
            self.wake()

    async def _record(self, outcome: Outcome) -> None:
        """Return after the commit of the outcome."""
        recorded = asyncio.get_running_loop().create_future()
        self._outcomes.append((outcome, recorded))
        if self._recording is None:
            self._recording = asyncio.create_task(self._record_all())
        await recorded

    async def _record_all(self) -> None:
        """Commit the outcomes in batches: those of calls that end together, and those that arrive during a commit."""
        try:
            while self._outcomes:
                self._calls_ended.clear()
                if self._calls:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(BACKLOG_LINGER_SECONDS if self._backlogged else LINGER_SECONDS):
                            await self._calls_ended.wait()
                batch, self._outcomes = self._outcomes, []
                errors = await record_outcomes([outcome for outcome, _ in batch], self._sender)
                for (_, recorded), error in zip(batch, errors, strict=True):
                    if recorded.done():
                        # The process ends without waiting for the record.
                        continue
                    if error is None:
                        recorded.set_result(None)
                    else:
                        recorded.set_exception(error)
        finally:
            self._recording = None
