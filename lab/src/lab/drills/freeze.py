"""Freeze the broker, the database or Redis under load, without ending it: clients see silence, not a closed connection.

`drop` drops the packets to and from the server: neither side learns that the other closed a connection meanwhile.
"""

import asyncio
import shutil
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

import httpx
import psutil

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.system import System
from campus_tools.servers import Server, start_servers
from contracts.demo import ADA
from lab.report import Report
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, clients_of, stopped_at_the_end, value_of
from operations.journey import Marketplace, SignedInUser
from operations.services import SERVICES

FROZEN: Final = ("rabbitmq", "postgresql", "redis")
# Everything acknowledged arrives within this time after a freeze, without a hand.
ARRIVAL_SECONDS_MAX: Final = 30.0
# An order is still payable after the longest freeze. A gateway whose database is frozen cannot give a lease back, so a
# request that was not answered is repeated when the lease ends: longer than a request with its time-out, within 30 s.
FREEZE_SETTINGS: Final = {"PAYMENT_WINDOW_SECONDS": "600", "IDEMPOTENCY_LOCK_SECONDS": "25"}
# The longest wait of the drill itself, so that its figures say how late an arrival was.
_WAIT_SECONDS_MAX: Final = 120.0
_ORDER_EVERY_SECONDS: Final = 2.0
_READINESS_SECONDS_MAX: Final = 2.0
_READINESS_EVERY_SECONDS: Final = 1.0
_UNSENT: Final = "SELECT count(*) FROM outbox WHERE published_at IS NULL"


@asynccontextmanager
async def system_with_redis(folder: Path, log: Log) -> AsyncIterator[tuple[System, Marketplace]]:
    """Yield a system without quotas, whose gateway counts in Redis; it is stopped and removed at the end."""
    port_base = free_port_base()
    log("starting the system")
    servers = await asyncio.to_thread(start_servers, folder, port_base, redis=True, report=log)
    environment = {**NO_QUOTA, **NO_TRACING, **FREEZE_SETTINGS}
    async with (
        stopped_at_the_end(servers),
        System(folder, port_base, environment, servers=servers) as system,
        clients_of(system) as market,
    ):
        yield system, market


@asynccontextmanager
async def frozen(server: Server) -> AsyncIterator[None]:
    """Stop every process of a private server by SIGSTOP, and continue them at the end."""
    [(_, process_id, _), *_] = server.places
    parts = [psutil.Process(process_id), *psutil.Process(process_id).children(recursive=True)]
    for part in parts:
        part.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for part in parts:
            part.send_signal(signal.SIGCONT)


@asynccontextmanager
async def dropped(server: Server) -> AsyncIterator[None]:
    """Drop every packet to and from a private server silently, in both directions, until the end.

    Raises:
        ChildProcessError: neither nft nor iptables is there, or this program may not use it.
    """
    [(_, _, port), *_] = server.places
    add, remove = _dropping(port)
    try:
        for command in add:
            await run_as_root(command)
        yield
    finally:
        for command in remove:
            await run_as_root(command)


def _dropping(port: int) -> tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]:
    """Return the commands that add, and that remove, the rules of a port of the loopback interface.

    The rules are about arriving packets: a sender learns of a packet that is dropped as it leaves.
    """
    sides = ("dport", "sport")
    if shutil.which("nft"):
        table = f"inet campus_drill_{port}"
        rules = [f'add rule {table} arriving iifname "lo" tcp {side} {port} drop' for side in sides]
        chain = f"add chain {table} arriving {{ type filter hook input priority 0; }}"
        return [["nft", "; ".join([f"add table {table}", chain, *rules])]], [["nft", f"delete table {table}"]]
    if shutil.which("iptables"):
        parts = [["INPUT", "-i", "lo", "-p", "tcp", f"--{side}", str(port), "-j", "DROP"] for side in sides]
        return [["iptables", "-I", *part] for part in parts], [["iptables", "-D", *part] for part in parts]
    raise ChildProcessError("to drop packets this drill needs root, and nft or iptables: apt-get install nftables")


async def run_as_root(command: Sequence[str]) -> None:
    """Run a command that needs root. Raises ChildProcessError."""
    try:
        ran = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    except FileNotFoundError as error:
        raise ChildProcessError(f"{command[0]} is not installed") from error
    _, errors = await ran.communicate()
    if ran.returncode:
        raise ChildProcessError(f"{' '.join(command)} (it needs root): {errors.decode().strip()}")


INTERRUPTIONS: Final[Mapping[str, Callable[[Server], AbstractAsyncContextManager[None]]]] = {
    "freeze": frozen,
    "drop": dropped,
}


async def drill_freeze(
    system: System, market: Marketplace, name: str, seconds: float, log: Log, mode: str = "freeze"
) -> Report:
    """Silence one server for `seconds` while orders are placed and paid, and wait until all of them are paid."""
    report = Report()
    server: Server = getattr(system.servers, name)
    # Longer than the freeze and what follows it.
    market.wait_seconds_max = seconds + _WAIT_SECONDS_MAX
    before = {process.name: process.restarts for process in system.processes}
    buyer, products = await market.sign_in("buyer@unilag.edu.ng"), await _products(market)
    stopping = asyncio.Event()
    buying = asyncio.create_task(_buy(market, buyer, products, stopping))
    probing = asyncio.create_task(_slowest_readiness(system, stopping))
    await asyncio.sleep(2 * _ORDER_EVERY_SECONDS)
    log(f"{name}: {mode} for {seconds:.0f} s")
    async with INTERRUPTIONS[mode](server):
        await asyncio.sleep(seconds)
    resumed = time.monotonic()
    log(f"{name} continues")
    stopping.set()
    await _record_arrivals(report, system, market, buyer, buying, resumed)
    slowest = await probing
    report.require_in_time("slowest readiness", f"{slowest:.1f} s", holds=slowest <= _READINESS_SECONDS_MAX)
    restarts = {process.name: process.restarts - before[process.name] for process in system.processes}
    report.require_none("restarts", {process: count for process, count in restarts.items() if count})
    report.require_none("audit", await broken_invariants(system, market, log))
    return report


async def _products(market: Marketplace) -> list[str]:
    products = await market.products(vendorId=str(ADA.id), inStock="true", limit=100)
    return [product["id"] for product in products for _ in range(min(product["stock"], 5))]


async def _buy(
    market: Marketplace, buyer: SignedInUser, products: Sequence[str], stopping: asyncio.Event
) -> Sequence[str]:
    """Place and pay orders until the end of the freeze, each in a task of its own. Return their ids."""
    paying: list[asyncio.Task[str]] = []
    for product_id in products:
        paying.append(asyncio.create_task(_purchase(market, buyer, product_id)))
        if await _is_set_within(stopping, _ORDER_EVERY_SECONDS):
            break
    return await asyncio.gather(*paying)


async def _purchase(market: Marketplace, buyer: SignedInUser, product_id: str) -> str:
    order = await market.checkout(buyer, product_id, key=uuid4())
    await market.pay(await market.pay_intent(buyer, order["id"], key=uuid4()))
    return str(order["id"])


async def _slowest_readiness(system: System, stopping: asyncio.Event) -> float:
    """Request every process's readiness, again and again; return the seconds of the slowest response."""
    names = [plan.name for plan in system.plan.processes if plan.service in {each.name for each in SERVICES}]
    slowest = 0.0
    async with httpx.AsyncClient(timeout=60.0) as client:
        while not await _is_set_within(stopping, _READINESS_EVERY_SECONDS):
            for response in await asyncio.gather(
                *(client.get(f"{system.health_url(name)}/health/readiness") for name in names), return_exceptions=True
            ):
                if isinstance(response, httpx.Response):
                    slowest = max(slowest, response.elapsed.total_seconds())
    return slowest


async def _record_arrivals(
    report: Report,
    system: System,
    market: Marketplace,
    buyer: SignedInUser,
    buying: "asyncio.Task[Sequence[str]]",
    resumed: float,
) -> None:
    """Wait until every order is paid and every outbox is empty, which must be within ARRIVAL_SECONDS_MAX."""
    orders = await asyncio.wait_for(buying, _WAIT_SECONDS_MAX)
    for order_id in orders:
        await market.order_reaches(buyer, order_id, "paid_escrow", within=_WAIT_SECONDS_MAX)
    seconds = time.monotonic() - resumed
    in_time = seconds <= ARRIVAL_SECONDS_MAX
    report.require_in_time("orders, all paid after", f"{len(orders)}, {seconds:.1f} s", holds=in_time)

    async def unsent() -> bool | None:
        return None if await unsent_messages(system) else True

    with suppress(TimeoutError):
        await market.until("every outbox is empty", unsent, ARRIVAL_SECONDS_MAX, every=0.5)
    report.require_none("unsent messages", await unsent_messages(system))


async def unsent_messages(system: System) -> Counter[str]:
    """Return the unpublished outbox rows by service."""
    return +Counter({one.name: await value_of(system, one.import_name, _UNSENT) for one in SERVICES})


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
