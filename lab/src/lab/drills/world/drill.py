"""Break disks, clocks, networks and parts of the broker under a light load.

After each fault every order, refund and payout ends once, the audit is clean, and no process needs a hand.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import asyncpg
import httpx
from rich.table import Table

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.readiness import responds_ready
from campus_tools.launcher.supervisor import WatchedServer
from campus_tools.launcher.system import System
from campus_tools.servers import ServerPorts, Servers
from campus_tools.servers.postgresql import PrivatePostgresql
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from lab.drills.balancer import balanced
from lab.drills.doubled import pay_without_kept_connections
from lab.drills.freeze import FREEZE_SETTINGS, unsent_messages
from lab.drills.scale.journeys import Journeys
from lab.drills.scale.outcome import record_outcome
from lab.drills.world.disks import postgresql_disk, rabbitmq_disk
from lab.drills.world.faults import FAULTS, NEED_PACKET_FILTER, World
from lab.drills.world.network import require_packet_filter
from lab.drills.world.shim import Shim
from lab.report import Report
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, clients_of, stopped_at_the_end
from operations.journey import Marketplace
from operations.processes import SANDBOX_PORT

# A fault ends at once; the longest step of the retry ladder, a lease of an idempotency key and a restart follow it.
NORMAL_SECONDS_MAX: Final = 90.0
_PROVIDER_PORT: Final = 80
_BEFORE_SECONDS: Final = 6.0
_AFTER_SECONDS: Final = 4.0
# The longest wait of the drill itself, so that its figures say how late the end was.
_WAIT_SECONDS_MAX: Final = 240.0


@asynccontextmanager
async def broken_world(folder: Path, seconds: float, log: Log) -> AsyncIterator[tuple[World, Marketplace]]:
    """Yield a system whose servers have disks of their own and whose gateway is reached through a port of its own."""
    port_base = free_port_base()
    ports = ServerPorts.above(port_base)
    postgresql = PrivatePostgresql(folder, ports.postgresql, report=log)
    rabbitmq = PrivateRabbitmq(folder, ports, report=log)
    servers = Servers(postgresql, rabbitmq, None, rabbitmq.management_url, folder, "servers on disks of their own")
    provider_port = port_base + _PROVIDER_PORT
    addresses = {"GATEWAY_API_URL": f"http://127.0.0.1:{provider_port}/gateway"}
    environment = {**NO_QUOTA, **NO_TRACING, **FREEZE_SETTINGS, **addresses}
    async with AsyncExitStack() as stack:
        log("starting the system")
        database_disk = stack.enter_context(postgresql_disk(postgresql))
        broker_disk = stack.enter_context(rabbitmq_disk(rabbitmq))
        await stack.enter_async_context(stopped_at_the_end(servers))
        await asyncio.to_thread(servers.start)
        await stack.enter_async_context(balanced(provider_port, {port_base + SANDBOX_PORT: None}))
        system = await stack.enter_async_context(System(folder, port_base, environment, servers=servers))
        for server in servers.all:
            watched = WatchedServer(server, report=lambda who, what: log(f"{who} {what}"), changed=lambda: None)
            watched.start()
            stack.callback(watched.stop)
        market = await stack.enter_async_context(clients_of(system))
        await pay_without_kept_connections(market, system)
        clock = Shim.build(folder / "clock", folder)
        yield World(system, database_disk, broker_disk, clock, provider_port, seconds, log), market


async def drill_world(folder: Path, names: Sequence[str], seconds: float, rate: float, log: Log) -> Report:
    """Open each named fault under load, and require that everything ends once and nothing needs a hand.

    Raises:
        ChildProcessError: the machine cannot do it: no root, no nft, no C compiler.
        ServerUnavailable: a server does not start.
    """
    if not NEED_PACKET_FILTER.isdisjoint(names):
        # The first fault that needs it comes after minutes of others.
        await require_packet_filter()
    report = Report()
    table = Table("fault", "orders, payouts", "what clients saw", "restarts", "normal after")
    report.tables.append(table)
    async with broken_world(folder, seconds, log) as (world, market):
        journeys = await Journeys.open(market)
        for name in names:
            one, row = await drill_fault(world, market, journeys, name, rate)
            table.add_row(name, *row)
            log(f"{name}: {', '.join(row)}; {one.not_as_promised or 'as promised'}")
            report.broken += [f"{name}: {what}: {one.rows[what]}" for what in one.not_as_promised]
    report.require_none("not as promised", list(report.broken))
    return report


async def drill_fault(
    world: World, market: Marketplace, journeys: Journeys, name: str, rate: float
) -> tuple[Report, list[str]]:
    """Open one fault under load. Return what did not hold, and the row of its figures."""
    report, seen, system = Report(), Responses(), world.system
    orders, payouts = len(journeys.orders), len(journeys.payouts)
    loading = asyncio.create_task(journeys.run(rate))
    await asyncio.sleep(_BEFORE_SECONDS)
    before = {process.name: process.restarts for process in system.processes}
    market.http.event_hooks["response"] = [seen.record]
    world.log(f"{name} begins")
    async with FAULTS[name](world):
        restarted = {process.name: process.restarts - before[process.name] for process in system.processes}
    ended = time.monotonic()
    world.log(f"{name} ended")
    settling = asyncio.create_task(_until_settled(system))
    await asyncio.sleep(_AFTER_SECONDS)
    journeys.stop()
    report.require_none("not settled", await settling)
    settled = time.monotonic()
    await asyncio.wait({loading}, timeout=_WAIT_SECONDS_MAX)
    report.require("load ended", loading.done(), holds=loading.done())
    market.http.event_hooks["response"] = []
    ends = [order.ended for order in journeys.orders if order.ended and order.began < ended]
    normal = max([settled, *ends]) - ended
    report.require_in_time("normal after", f"{normal:.1f} s", holds=normal <= NORMAL_SECONDS_MAX)
    report.require_none("responses that the contract forbids", seen.forbidden)
    report.require_none("restarts since", _restarts(system, {k: before[k] + restarted[k] for k in before}))
    await record_outcome(report, system, market, journeys)
    report.require_none("audit", await broken_invariants(system, market, world.log))
    figures = f"{len(journeys.orders) - orders}, {len(journeys.payouts) - payouts}"
    during = ", ".join(f"{count} {process}" for process, count in restarted.items() if count)
    return report, [figures, str(seen), during or "none", f"{normal:.1f} s"]


class Responses:
    """Responses of the gateway that are no success, by status and code."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.forbidden: list[str] = []

    async def record(self, response: httpx.Response) -> None:
        """Record a response, as an event hook of httpx. A wait for an event (404) is no fault."""
        if response.is_success or response.status_code == 404:
            return
        await response.aread()
        retry_after = response.headers.get("Retry-After")
        code = response.json().get("code", "") if "json" in response.headers.get("Content-Type", "") else ""
        self.seen[f"{response.status_code} {code}{f' Retry-After {retry_after}' if retry_after else ''}"] += 1
        must_name_it = response.status_code in (429, 503) and retry_after is None
        if response.status_code == 500 or must_name_it or response.status_code == 401:
            self.forbidden.append(
                f"{response.request.method} {response.request.url.path}: {response.status_code} {code}"
            )

    def __str__(self) -> str:
        return ", ".join(f"{count} x {what}" for what, count in self.seen.most_common()) or "nothing"


async def _until_settled(system: System) -> list[str]:
    """Wait until every process is ready and every outbox is empty. Return what is not, after the longest wait."""
    deadline = time.monotonic() + _WAIT_SECONDS_MAX
    while True:
        open_parts = await asyncio.to_thread(_not_ready, system)
        if not open_parts:
            try:
                open_parts = [f"{count} messages of {name}" for name, count in (await unsent_messages(system)).items()]
            except (OSError, asyncpg.PostgresError) as error:
                open_parts = [f"outbox: {error!r}"]
        if not open_parts or time.monotonic() > deadline:
            return open_parts
        await asyncio.sleep(0.5)


def _not_ready(system: System) -> list[str]:
    plans = system.plan.processes
    return [one.name for one in plans if not responds_ready(system.port_base + one.health_offset)]


def _restarts(system: System, before: dict[str, int]) -> dict[str, int]:
    restarts = {process.name: process.restarts - before[process.name] for process in system.processes}
    return {name: count for name, count in restarts.items() if count}
