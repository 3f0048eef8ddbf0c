"""`python -m lab.bench.event_processes publish|consume <file> <count> <rate>`: publish or consume events.

One process commits and relays events, as the orders service does; the other consumes them, as payments' worker does.
Each records its commit times on the monotonic clock, which all processes of a machine share.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.messaging.consumers import Consumers
from common.messaging.messages import Handlers, Received, Subscription
from common.messaging.relay import run_relay
from common.observability import logging
from common.primitives.clock import iso
from common.primitives.ids import new_id
from common.process.runtime import Runtime, running
from contracts.orders import OrderPlaced, PlacedItem
from orders.app import SERVICE as ORDERS
from payments.app import SERVICE as PAYMENTS
from payments.consumers import on_order_placed

# The consumers run and all connections are open before the first measured event.
_WARM_EVENTS = 50
_LATE_SECONDS = 30.0


async def publish(count: int, rate: float) -> dict[str, Any]:
    """Commit events at the rate and relay them."""
    at_ns: dict[str, int] = {}
    settings = ORDERS.settings.from_environment()
    async with running(ORDERS, settings, "bench-publish") as (runtime, _):
        relay = asyncio.create_task(run_relay(runtime.database, runtime.bus))
        await _publish_at_rate(runtime, {}, _WARM_EVENTS, rate)
        await asyncio.sleep(2)
        spent = _cpu_seconds()
        await _publish_at_rate(runtime, at_ns, count, rate)
        await _until_relayed(runtime.database)
        spent = _cpu_seconds() - spent
        relay.cancel()
    return {"at_ns": at_ns, "cpu_seconds": spent}


async def _publish_at_rate(runtime: Runtime, at_ns: dict[str, int], count: int, rate: float) -> None:
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            group.create_task(_publish_one(runtime, at_ns))


async def _publish_one(runtime: Runtime, at_ns: dict[str, int]) -> None:
    event = _order_placed(runtime)
    async with runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(event)
    at_ns[str(event.order_id)] = time.monotonic_ns()


def _order_placed(runtime: Runtime) -> OrderPlaced:
    return OrderPlaced(
        order_id=new_id(),
        buyer_id=new_id(),
        vendor_id=new_id(),
        campus_id=new_id(),
        total_minor=150_000,
        commission_minor=7_500,
        delivery_fee_minor=0,
        currency="NGN",
        payment_due_at=iso(runtime.clock.now()),
        items=(PlacedItem(product_id=new_id(), name="Bench product", quantity=1, line_total_minor=150_000),),
    )


async def _until_relayed(database: Database) -> None:
    deadline = time.monotonic() + _LATE_SECONDS
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        waiting = "SELECT count(*) FROM outbox WHERE published_at IS NULL AND type = $1"
        while await uow.fetch_value(waiting, OrderPlaced.TYPE) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)


class _TimedConsumers(Consumers):
    """Payments' consumers; they record when the effect of a message was committed."""

    at_ns: dict[str, int]

    async def handle(self, queue: str, messages: Sequence[tuple[Received, msgspec.Raw]]) -> None:
        await super().handle(queue, messages)
        at_ns = time.monotonic_ns()
        self.at_ns.update((received.subject, at_ns) for received, _ in messages)


async def consume(count: int) -> dict[str, Any]:
    """Consume until all measured events were processed."""
    settings = PAYMENTS.settings.from_environment()
    async with running(PAYMENTS, settings, "bench-consume") as (runtime, dependencies):
        consumers = _TimedConsumers(
            "payments",
            runtime.database,
            runtime.bus,
            dependencies,
            Handlers([Subscription(OrderPlaced, on_order_placed)]),
            account_required=runtime.account_required,
        )
        consumers.at_ns = {}
        task = asyncio.create_task(consumers.run())
        while len(consumers.at_ns) < _WARM_EVENTS:
            await asyncio.sleep(0.05)
        spent = _cpu_seconds()
        while len(consumers.at_ns) < _WARM_EVENTS + count:
            await asyncio.sleep(0.05)
        spent = _cpu_seconds() - spent
        task.cancel()
    return {"at_ns": consumers.at_ns, "cpu_seconds": spent}


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main() -> None:
    part, path, count, rate = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    logging.start(f"bench-{part}", "WARNING")
    result = await (publish(count, rate) if part == "publish" else consume(count))
    path.write_text(json.dumps(result))


if __name__ == "__main__":
    uvloop.run(main())
