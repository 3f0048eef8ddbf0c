"""Run orders from checkout to payout on a separate system and measure their cost."""

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from lab.capacity.counting import Counters, Reading, idle_between, step_between
from lab.capacity.figures import Measured
from lab.orders import Trade
from lab.systems import Log, RunningSystem, temporary_system
from operations.journey import Marketplace

_AT_ONCE: Final = 4
"""Concurrent steps: enough for batches, few enough for two cores."""
_READ: Final = frozenset({"api-gateway", "orders-api", "orders-db"})
"""The processes that serve a page of products."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The number of runs of each step."""

    orders: int
    payouts: int
    reads: int
    idle_seconds: float
    warm: int = 8


async def measure(effort: Effort, log: Log) -> Measured:
    """Measure a temporary system. Raises StepFailed, TimeoutError, StartFailed."""
    environment = {"RATE_LIMIT_STORE_URL": "", "EDGE_CACHE_SECONDS": "0"}
    async with temporary_system("capacity", log, environment) as (system, market):
        counters = await Counters.open(RunningSystem.at(system.state_dir, system.port_base))
        try:
            return await _played(_Play(market, counters, effort, log))
        finally:
            await counters.close()


@dataclass(slots=True)
class _Play:
    market: Marketplace
    counters: Counters
    effort: Effort
    log: Log


async def _played(play: _Play) -> Measured:
    market, effort = play.market, play.effort
    trade = await Trade.open(market, play.counters.administrator, effort.orders + effort.warm)
    play.log(f"{effort.warm} orders to warm up")
    await _all(effort.warm, lambda _: trade.order())
    await trade.payouts(2)
    first = await play.counters.read()
    play.log(f"{effort.idle_seconds:.0f} s without requests")
    await asyncio.sleep(effort.idle_seconds)
    rested = await play.counters.read()
    idle = idle_between(first, rested)
    loads = [os.getloadavg()[0]]
    play.log(f"{effort.orders} orders, from the checkout to the vendor's wallet")
    await _all(effort.orders, lambda _: trade.order())
    ordered = await _quiet(play)
    loads.append(os.getloadavg()[0])
    play.log(f"{effort.payouts} payouts, from the request to the bank's confirmation")
    await trade.payouts(effort.payouts)
    paid = await _quiet(play)
    play.log(f"{effort.reads} pages: lists of products and single products in turn")
    await _all(effort.reads, lambda number: _read_page(market, trade.product, number))
    read = await play.counters.read()
    loads.append(os.getloadavg()[0])
    widths = await play.counters.widths()
    cores = os.cpu_count() or 1
    return Measured(
        day=datetime.now(UTC).date().isoformat(),
        machine=f"{cores} cores, {platform.machine()}, Python {platform.python_version()}",
        load=round(sum(loads) / len(loads) / cores, 1),
        idle_cpu_ms={name: round(spent, 2) for name, spent in idle.cpu_ms.items()},
        idle_commits={name: round(done, 2) for name, done in idle.commits.items()},
        order=step_between(rested, ordered, effort.orders, idle, widths),
        payout=step_between(ordered, paid, effort.payouts, idle, widths),
        read=step_between(paid, read, effort.reads, idle, widths, _READ),
    )


async def _quiet(play: _Play) -> Reading:
    """Return a reading after the notifications of the orders, which belong to their cost."""
    await asyncio.sleep(5.0)
    return await play.counters.read()


async def _read_page(market: Marketplace, product: str, number: int) -> None:
    if number % 2:
        await market.get(f"/api/products/{product}")
    else:
        await market.products(limit=20)


async def _all(count: int, step: Callable[[int], Awaitable[Any]]) -> None:
    turn = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int) -> None:
        async with turn:
            await step(number)

    await asyncio.gather(*(one(number) for number in range(count)))
