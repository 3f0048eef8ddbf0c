"""Messages through the delay queues of the retry ladder and the dead letter queue: is their disk space reclaimed?

Quorum queues keep messages in segments of a Raft log. A public issue of RabbitMQ (14522) says that segments of queues
whose messages expire stay on the disk. Messages take the path of a failed delivery: published to a delay queue as
`Bus.delay` does, expired, consumed from the work queue, and one of twenty rejected into the dead letter queue. No
client waits for single confirms: a lost message stalls the run.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, cast

import aio_pika
import aiormq
import httpx
from aio_pika.abc import AbstractConnection
from aiormq.abc import DeliveredMessage

from common.messaging.topology import (
    DELAY_HEADER,
    dead_letter_queue_of,
    declare_topology,
    declared_topology,
    delay_header,
)
from common.primitives.retry import DELAYS_SECONDS, RetryLadder, jittered
from contracts.topology import RETRY_EXCHANGE
from lab.report import Report
from lab.systems import Log

_WORK_QUEUE: Final = "payments.webhooks"
# Of the size of an event with its envelope.
_BODY: Final = b"x" * 1_000
# Messages on their way, which bounds the memory of this program and of the broker.
_IN_FLIGHT_MAX: Final = 50_000
_BATCH: Final = 200
# Of ten messages seven wait for the first delay, two for the second, and one for the third.
_DELAYS: Final = (DELAYS_SECONDS[0],) * 7 + (DELAYS_SECONDS[1],) * 2 + (DELAYS_SECONDS[2],)
_REJECTED_EVERY: Final = 20
_PREFETCH: Final = 1_000
_SAMPLE_SECONDS: Final = 2.0
# RabbitMQ removes segments when it takes a snapshot, which it does while commands arrive.
_IDLE_SECONDS: Final = 60.0
_MORE_MESSAGES: Final = 10_000
_STALLED_SECONDS_MAX: Final = 300.0
# Each of the five queues on the path keeps the segment that it writes, of at most 4,096 messages.
_LEFT_SHARE_MAX, _LEFT_BYTES_MAX = 0.05, 5 * 4_096 * len(_BODY)


@dataclass(frozen=True, slots=True)
class BrokerLoad:
    """The number of messages; the broker's addresses and its data directory, which this program can read."""

    count: int
    url: str
    management_url: str
    data: Path


class _Disk(NamedTuple):
    """Bytes and files of the segments, and bytes of the write-ahead log."""

    segment_bytes: int
    segments: int
    log_bytes: int

    def __str__(self) -> str:
        return f"{self.segment_bytes / 2**20:.0f} MiB in {self.segments} segments, log {self.log_bytes / 2**20:.0f} MiB"


async def soak_broker(load: BrokerLoad, log: Log) -> Report:
    """Send the messages, wait until all have passed, and measure the disk. Raises TimeoutError when they stall."""
    ladder = RetryLadder()
    topology = declared_topology(ladder)
    await declare_topology(load.url, topology)
    report, soak = Report(), _Soak(load, log)
    async with httpx.AsyncClient(base_url=load.management_url, trust_env=False) as management:
        overview = (await management.get("/api/overview")).raise_for_status().json()
    report.rows["RabbitMQ, Erlang"] = f"{overview['rabbitmq_version']}, {overview['erlang_version']}"
    report.rows["disk before"] = str(soak.disk())
    async with await aio_pika.connect(load.url) as connection:
        await soak.open(connection)
        began = time.monotonic()
        await soak.send(load.count)
        seconds = time.monotonic() - began
        report.rows["messages passed"] = f"{soak.passed} in {seconds:.0f} s, {soak.seen['dead letters']} dead letters"
        report.rows["disk at its peak"] = str(soak.peak)
        report.rows["disk after the last message"] = str(soak.disk())
        log(f"idle for {_IDLE_SECONDS:.0f} s")
        await asyncio.sleep(_IDLE_SECONDS)
        report.rows[f"disk {_IDLE_SECONDS:.0f} s later"] = str(soak.disk())
        await soak.send(_MORE_MESSAGES)
    left = soak.disk()
    written = soak.passed * len(_BODY)
    report.rows["bodies published"] = f"{written / 2**20:.0f} MiB"
    report.require(
        f"disk after {_MORE_MESSAGES} more messages",
        left,
        holds=left.segment_bytes <= max(_LEFT_BYTES_MAX, _LEFT_SHARE_MAX * written),
    )
    return report


@dataclass(slots=True)
class _Soak:
    load: BrokerLoad
    log: Log
    seen: Counter[str] = field(default_factory=Counter)
    peak: _Disk = field(default_factory=lambda: _Disk(0, 0, 0))
    _channel: aiormq.Channel = field(init=False)

    @property
    def passed(self) -> int:
        """Messages that were acknowledged at the end of their path."""
        return self.seen["work"] + self.seen["dead letters"]

    async def open(self, connection: AbstractConnection) -> None:
        """Acknowledge all messages but one of `_REJECTED_EVERY`, which is acknowledged as a dead letter."""
        self._channel = await _channel(connection)
        for queue, handle in ((_WORK_QUEUE, self._on_work), (dead_letter_queue_of(_WORK_QUEUE), self._on_dead_letter)):
            channel = await _channel(connection)
            await channel.basic_qos(prefetch_count=_PREFETCH)
            await channel.basic_consume(queue, handle)

    async def _on_work(self, message: DeliveredMessage) -> None:
        self.seen["arrived"] += 1
        if self.seen["arrived"] % _REJECTED_EVERY == 0:
            await message.channel.basic_reject(_tag_of(message), requeue=False, wait=False)
            return
        await message.channel.basic_ack(_tag_of(message), wait=False)
        self.seen["work"] += 1

    async def _on_dead_letter(self, message: DeliveredMessage) -> None:
        await message.channel.basic_ack(_tag_of(message), wait=False)
        self.seen["dead letters"] += 1

    async def send(self, count: int) -> None:
        """Publish to the delay queues and wait until the same number of messages has passed."""
        goal = self.passed + count
        sampling = asyncio.create_task(self._sample(goal))
        try:
            for number in range(count):
                await self._delay(_DELAYS[number % len(_DELAYS)])
                if number % _BATCH == 0:
                    # Also lets the consumers run.
                    await asyncio.sleep(0)
                    while goal - count + number - self.passed > _IN_FLIGHT_MAX:
                        await asyncio.sleep(0.01)
            await self._pass(goal)
        finally:
            sampling.cancel()
            with suppress(asyncio.CancelledError):
                await sampling

    async def _delay(self, seconds: float) -> None:
        properties = aiormq.spec.Basic.Properties(
            delivery_mode=2,
            headers={DELAY_HEADER: delay_header(seconds)},
            expiration=str(int(jittered(seconds) * 1000)),
        )
        await self._channel.basic_publish(
            _BODY, exchange=RETRY_EXCHANGE, routing_key=_WORK_QUEUE, properties=properties, wait=False
        )

    async def _pass(self, goal: int) -> None:
        last, since = -1, time.monotonic()
        while self.passed < goal:
            if self.passed != last:
                last, since = self.passed, time.monotonic()
            if time.monotonic() - since > _STALLED_SECONDS_MAX:
                raise TimeoutError(f"{goal - self.passed} messages did not arrive")
            await asyncio.sleep(0.2)

    async def _sample(self, goal: int) -> None:
        reported = time.monotonic()
        while True:
            self.peak = max(self.peak, await asyncio.to_thread(self.disk))
            if time.monotonic() - reported > 60:
                reported = time.monotonic()
                self.log(f"{self.passed} of {goal} messages passed; {self.disk()}")
            await asyncio.sleep(_SAMPLE_SECONDS)

    def disk(self) -> _Disk:
        """Return the disk use of all quorum queues."""
        sizes: Mapping[str, list[int]] = {".segment": [], ".wal": []}
        # Files and folders may disappear in the meantime: `walk` passes over folders that did.
        for folder, _, names in os.walk(self.load.data):
            for path in (Path(folder, name) for name in names):
                if path.suffix in sizes:
                    with suppress(FileNotFoundError):
                        sizes[path.suffix].append(path.stat().st_blocks * 512)
        return _Disk(sum(sizes[".segment"]), len(sizes[".segment"]), sum(sizes[".wal"]))


async def _channel(connection: AbstractConnection) -> aiormq.Channel:
    channel = await connection.channel(publisher_confirms=False)
    return cast("aiormq.Channel", await channel.get_underlay_channel())


def _tag_of(message: DeliveredMessage) -> int:
    delivery = message.delivery
    assert isinstance(delivery, aiormq.spec.Basic.Deliver)
    assert delivery.delivery_tag is not None
    return delivery.delivery_tag
