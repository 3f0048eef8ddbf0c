"""Run orders from checkout to payout on a separate system and measure their cost."""

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from lab.capacity.counting import Counters, Reading, idle_between, step_between
from lab.capacity.figures import Measured
from lab.soak.stock import add_product
from lab.systems import Log, temporary_system
from operations.journey import Marketplace, SignedInUser

_AT_ONCE: Final = 4
"""Concurrent steps: enough for batches, few enough for two cores."""
_PRICE_MINOR: Final = 250_000
_PAYOUT_MINOR: Final = 100_000
_BATCH: Final = 100
_WITHIN_SECONDS: Final = 180.0
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
        counters = await Counters.open(system)
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
    vendor, buyer = await market.sign_in("vendor@unilag.edu.ng"), await market.sign_in("buyer@unilag.edu.ng")
    maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
    product = await add_product(market, vendor, _PRICE_MINOR, effort.orders + effort.warm)
    play.log(f"{effort.warm} orders to warm up")
    await _all(effort.warm, lambda _: _order(market, buyer, vendor, product))
    await _paid_out(market, vendor, maker, 2)
    first = await play.counters.read()
    play.log(f"{effort.idle_seconds:.0f} s without requests")
    await asyncio.sleep(effort.idle_seconds)
    rested = await play.counters.read()
    idle = idle_between(first, rested)
    loads = [os.getloadavg()[0]]
    play.log(f"{effort.orders} orders, from the checkout to the vendor's wallet")
    await _all(effort.orders, lambda _: _order(market, buyer, vendor, product))
    ordered = await _quiet(play)
    loads.append(os.getloadavg()[0])
    play.log(f"{effort.payouts} payouts, from the request to the bank's confirmation")
    await _paid_out(market, vendor, maker, effort.payouts)
    paid = await _quiet(play)
    play.log(f"{effort.reads} pages: lists of products and single products in turn")
    await _all(effort.reads, lambda number: _read_page(market, product, number))
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
    """A reading after the notifications of the orders, which belong to their cost."""
    await asyncio.sleep(5.0)
    return await play.counters.read()


async def _order(market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, product: str) -> None:
    order = await market.checkout(buyer, product)
    await market.pay(await market.pay_intent(buyer, order["id"]))
    await _reaches(market, buyer, order["id"], "paid_escrow")
    await market.dispatch(vendor, order["id"])
    pin = await market.delivery_pin(buyer, order["id"])
    await market.verify_delivery(vendor, order["id"], pin)
    await _reaches(market, buyer, order["id"], "paid")


async def _reaches(market: Marketplace, buyer: SignedInUser, order_id: str, status: str) -> None:
    """Poll once a second, as a buyer's page does: more polls would add to the order's cost."""

    async def check() -> dict[str, Any] | None:
        order = await market.order(buyer, order_id)
        return order if order["status"] == status else None

    await market.until(f"order is {status}", check, _WITHIN_SECONDS, every=1.0)


async def _paid_out(market: Marketplace, vendor: SignedInUser, maker: SignedInUser, count: int) -> None:
    requested = list[str]()

    async def request(_: int) -> None:
        requested.append(str((await market.request_payout(vendor, _PAYOUT_MINOR))["id"]))

    await _all(count, request)
    for start in range(0, count, _BATCH):
        await market.dispatch_payouts(maker, requested[start : start + _BATCH], key=uuid4())
    for payout in requested:
        await market.payout_reaches(vendor, payout, "processed", _WITHIN_SECONDS)


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
