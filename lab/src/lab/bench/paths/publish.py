"""A confirmed message by the bus, compared with aio-pika's public interface (decision 50)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import aio_pika

from common.messaging.bus import Bus, Outgoing
from common.messaging.topology import declared_topology
from common.primitives.ids import new_id
from common.primitives.retry import RetryLadder
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Goal, Reading, Row
from lab.bench.paths.outbox_to_consumer import virtual_host

_BATCH = 16
_BODY = b'{"orderId":"0198a1f0-0000-7000-8000-000000000000","amountMinor":250000,"currency":"NGN"}' * 5
_TYPE = "bench.published"


async def measure(bench: BenchEnvironment) -> list[Row]:
    """Publish persistent messages with pipelined confirms, sixteen at a time, from this process."""
    url = await virtual_host(bench)
    topology = declared_topology(RetryLadder())
    bus, connection = Bus(url, topology, "bench"), await aio_pika.connect(url)
    try:
        exchange = await (await connection.channel()).get_exchange(topology.events_exchange, ensure=False)

        async def by_aio_pika(batch: Sequence[Outgoing]) -> None:
            await asyncio.gather(
                *(
                    exchange.publish(
                        aio_pika.Message(
                            message.body,
                            message_id=message.message_id,
                            type=message.type,
                            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
                        ),
                        message.type,
                        mandatory=False,
                    )
                    for message in batch
                )
            )

        return [
            await bench.compare(
                "a published message",
                lambda seconds: _published(seconds, bus.publish),
                "aio-pika's exchange.publish",
                lambda seconds: _published(seconds, by_aio_pika),
                Goal("ratio", 0.8, unit="x"),
                measured="cpu",
            )
        ]
    finally:
        await bus.close()
        await connection.close()


async def _published(seconds: float, publish: Callable[[Sequence[Outgoing]], Awaitable[object]]) -> Reading:
    started, cpu, count = time.perf_counter(), time.process_time(), 0
    while (passed := time.perf_counter() - started) < seconds:
        await publish([Outgoing(_BODY, str(new_id()), _TYPE, None, {}) for _ in range(_BATCH)])
        count += _BATCH
    return Reading(count, passed, cpu_seconds=time.process_time() - cpu)
