"""Two instances of every process on three RabbitMQ nodes, a replicated PostgreSQL and Redis; each part stops in
turn.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rich.table import Table

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.system import System
from campus_tools.servers import Server, ServerUnavailable
from lab.drills.balancer import balanced
from lab.drills.doubled import doubled_system, pay_without_kept_connections
from lab.drills.freeze import INTERRUPTIONS
from lab.drills.scale.availability import READ, WRITE, Prober, under_load
from lab.drills.scale.journeys import Journeys
from lab.drills.scale.outcome import record_outcome
from lab.drills.scale.servers import BrokerCluster, ReplicatedDatabase, scaled_servers
from lab.histories.recording import History
from lab.histories.verdict import record_verdict
from lab.report import Report
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, clients_of, stopped_at_the_end
from operations.journey import Marketplace

# `freeze` and `drop` interrupt a node of the broker, Redis, the replica and the primary instead of ending them.
STOPS: Final = ("broker", "processes", "redis", "replica", "primary", "together", "freeze", "drop")
# Between two stops: what waited is worked off, and the next figures are those of the next stop.
_PAUSE_SECONDS: Final = 5.0
# In place of an operator (CloudNativePG, Patroni) that detects the death of a server.
_DETECTION_SECONDS: Final = 2.0
_RESTARTED_SECONDS_MAX: Final = 120.0
_REPLICATED_SECONDS_MAX: Final = 180.0


@dataclass(frozen=True, slots=True)
class ScaleLoad:
    """Orders per second, the seconds for which a server is down or unresponsive, and the parts to stop (of STOPS)."""

    orders_per_second: float
    down_seconds: float
    unresponsive_seconds: float
    stops: Sequence[str]


async def drill_scale(folder: Path, load: ScaleLoad, log: Log) -> Report:
    """Start everything twice or three times, stop each part in turn under load, count, and audit.

    Raises:
        ServerUnavailable: a server does not start, or a stopped one does not come back.
    """
    port_base = free_port_base()
    servers, broker, database = scaled_servers(folder, port_base, log)
    environment = {**NO_QUOTA, **NO_TRACING}
    log("starting three RabbitMQ nodes, PostgreSQL with a replica, and Redis")
    async with stopped_at_the_end(servers), balanced(broker.port, dict.fromkeys(broker.ports)):
        await asyncio.to_thread(servers.start)
        log("starting two instances of every process")
        async with (
            doubled_system(str(folder / "state"), environment, port_base, servers=servers, workers=2) as doubled,
            clients_of(doubled.system, History.new("scale")) as market,
        ):
            return await _Drill(doubled.system, broker, database, market, load, log).run()


@dataclass(slots=True)
class _Drill:
    system: System
    broker: BrokerCluster
    database: ReplicatedDatabase
    market: Marketplace
    load: ScaleLoad
    log: Log

    async def run(self) -> Report:
        await pay_without_kept_connections(self.market, self.system)
        report = Report()
        queues, complete = await self.broker.replication()
        report.require(
            "processes; quorum queues, with three members before the first stop",
            f"{len(self.system.processes)}; {queues}, {complete}",
            holds=queues == complete > 0,
        )
        journeys = await Journeys.open(self.market)
        stops = Table("stopped", "back after", *(f"{kind}, longest" for kind in (READ, WRITE)), "slowest order")
        report.tables.append(stops)
        async with under_load(self.market, journeys, self.load.orders_per_second) as prober:
            await asyncio.sleep(_PAUSE_SECONDS)
            for group in self.load.stops:
                for name, act in self._stops_of(group):
                    stops.add_row(name, *await self._stop(name, act, journeys, prober))
        self.log("waiting for orders and payouts that are under way")
        await record_outcome(report, self.system, self.market, journeys)
        report.require_none(
            "violated invariants of the audit", await broken_invariants(self.system, self.market, self.log)
        )
        await record_verdict(report, self.system, self.market)
        return report

    def _stops_of(self, group: str) -> list[tuple[str, Callable[[], Awaitable[None]]]]:
        """Each part of a group, and the function that stops it and returns when it is back."""
        if group == "broker":
            count = len(self.broker.nodes)
            return [(f"RabbitMQ node {number + 1} of {count}", partial(self._node, number)) for number in range(count)]
        if group == "processes":
            names = [process.name for process in self.system.processes if process.name != "sandbox"]
            return [(name, partial(self._process, name)) for name in names if not name.endswith("-2")]
        if group in INTERRUPTIONS:
            interrupted = {
                "RabbitMQ node 1": self.broker.nodes[0],
                "Redis": self._redis_server(),
                "PostgreSQL replica": self.database.replica,
                "PostgreSQL primary": self.database.primary,
            }
            return [
                (f"{name}: {group}", partial(self._interrupt, group, server)) for name, server in interrupted.items()
            ]
        return [
            {
                "redis": ("Redis", self._redis),
                "replica": ("PostgreSQL replica", self._replica),
                "primary": ("PostgreSQL primary", self._primary),
                "together": ("the broker's leader and the primary at once", self._together),
            }[group]
        ]

    async def _stop(
        self, name: str, act: Callable[[], Awaitable[None]], journeys: Journeys, prober: Prober
    ) -> list[str]:
        """Stop a part until it is back; return what clients saw."""
        self.log(f"stopping {name}")
        began = time.monotonic()
        await act()
        back_seconds = time.monotonic() - began
        await asyncio.sleep(_PAUSE_SECONDS)
        ended = time.monotonic()
        seen = [str(prober.between(kind, began, ended)) for kind in (READ, WRITE)]
        return [f"{back_seconds:.0f} s", *seen, f"{journeys.slowest(began, ended):.0f} s"]

    async def _node(self, number: int) -> None:
        await asyncio.to_thread(self.broker.nodes[number].kill)
        await asyncio.sleep(self.load.down_seconds)
        await self._start_node(number)

    async def _start_node(self, number: int) -> None:
        await asyncio.to_thread(self.broker.nodes[number].start)
        deadline = time.monotonic() + _REPLICATED_SECONDS_MAX
        while len(set(await self.broker.replication())) > 1:
            if time.monotonic() > deadline:
                raise ServerUnavailable(f"RabbitMQ node {number + 1} did not take its queues up again.")
            await asyncio.sleep(1)

    async def _interrupt(self, mode: str, server: Server) -> None:
        """Interrupt a server, which is not replaced: clients wait, and continue by themselves afterwards."""
        async with INTERRUPTIONS[mode](server):
            await asyncio.sleep(self.load.unresponsive_seconds)

    async def _process(self, name: str) -> None:
        process = self.system.process(name)
        before = await asyncio.to_thread(process.kill)
        await asyncio.to_thread(process.wait_restarted, before, _RESTARTED_SECONDS_MAX)

    async def _redis(self) -> None:
        redis = self._redis_server()
        await asyncio.to_thread(redis.kill)
        await asyncio.sleep(self.load.down_seconds)
        await asyncio.to_thread(redis.start)

    def _redis_server(self) -> Server:
        if self.system.servers.redis is None:
            raise ServerUnavailable("the drill has no Redis")
        return self.system.servers.redis

    async def _replica(self) -> None:
        await asyncio.to_thread(self.database.replica.kill)
        await asyncio.sleep(_DETECTION_SECONDS)
        await self.database.require_replica("")
        await asyncio.sleep(self.load.down_seconds)
        await self.database.start_replica()

    async def _primary(self) -> None:
        await asyncio.to_thread(self.database.primary.kill)
        await asyncio.sleep(_DETECTION_SECONDS)
        await self.database.promote()
        await asyncio.sleep(self.load.down_seconds)
        await self.database.add_replica()

    async def _together(self) -> None:
        number = await self.broker.leader()
        dying = (self.broker.nodes[number], self.database.primary)
        await asyncio.gather(*(asyncio.to_thread(server.kill) for server in dying))
        await asyncio.sleep(_DETECTION_SECONDS)
        await self.database.promote()
        await asyncio.sleep(self.load.down_seconds)
        await self._start_node(number)
        await self.database.add_replica()
