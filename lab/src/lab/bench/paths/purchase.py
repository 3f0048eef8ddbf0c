"""A purchase up to `paid_escrow`: the time for its user, and the CPU of all services, the database and the broker."""

import asyncio
import time
from typing import Any

import asyncpg

from lab.bench import seeds
from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Figures, Goal, Reading, Row, percentile
from operations.journey import Marketplace, SignedInUser

_POLL_SECONDS = 0.002
_WITHIN_SECONDS = 30.0
_QUIET_SECONDS = 2.0
_STATUS = "SELECT status FROM orders WHERE id = $1"


async def measure(bench: BenchEnvironment) -> list[Row]:
    ours = [process.name for process in bench.system.processes if process.name != "sandbox"]
    services, database, broker = bench.meter(*ours), bench.postgresql, bench.rabbitmq
    watch: Any = await asyncpg.connect(bench.system_database("orders"))
    try:
        watcher = Meter([watch.get_server_pid()])
        async with bench.market() as market:
            buyer = await market.sign_in("buyer@unilag.edu.ng")
            product = str(seeds.product_id(1))
            await asyncio.sleep(_QUIET_SECONDS)
            idle = await _idle_share(services, database, broker)
            for _ in range(3):
                await _purchase(market, buyer, product, watch)
            before = (services.seconds(), database.seconds() - watcher.seconds(), broker.seconds())
            began = time.perf_counter()
            times = [await _purchase(market, buyer, product, watch) for _ in range(bench.effort.purchases)]
            lasted = time.perf_counter() - began
            # The delivery PIN and the notifications are part of the purchase.
            await asyncio.sleep(_QUIET_SECONDS)
            after = (services.seconds(), database.seconds() - watcher.seconds(), broker.seconds())
    finally:
        await watch.close()
    spent = [end - start for start, end in zip(before, after, strict=True)]
    count = len(times)
    reading = Reading(count, lasted, percentile(times, 0.5), percentile(times, 0.99), sum(spent), spent[1])
    shares = " + ".join(
        f"{name} {seconds / count * 1000:.1f}"
        for name, seconds in zip(("services", "database", "broker"), spent, strict=True)
    )
    idle_ms = idle * (lasted + _QUIET_SECONDS) / count * 1000
    return [
        Row(
            "purchase up to paid_escrow, one user",
            "",
            Figures.of([reading]),
            goals=(Goal("cpu_us", 25_000, unit=" us"), Goal("p50_ms", 60, unit=" ms")),
            note=f"CPU in ms: {shares}; {idle_ms:.1f} of it is the idle share",
        )
    ]


async def _purchase(market: Marketplace, buyer: SignedInUser, product: str, watch: Any) -> float:
    """Check out and pay; the milliseconds until the order is paid."""
    began = time.perf_counter()
    order = await market.checkout(buyer, product)
    await market.pay(await market.pay_intent(buyer, order["id"]))
    deadline = began + _WITHIN_SECONDS
    while await watch.fetchval(_STATUS, order["id"]) != "paid_escrow":
        if time.perf_counter() > deadline:
            raise TimeoutError(f"the order {order['id']} was not paid within {_WITHIN_SECONDS:.0f} s")
        await asyncio.sleep(_POLL_SECONDS)
    return (time.perf_counter() - began) * 1000


async def _idle_share(*meters: Meter) -> float:
    """CPU seconds per second without requests."""
    before, began = sum(meter.seconds() for meter in meters), time.perf_counter()
    await asyncio.sleep(_QUIET_SECONDS)
    return (sum(meter.seconds() for meter in meters) - before) / (time.perf_counter() - began)
