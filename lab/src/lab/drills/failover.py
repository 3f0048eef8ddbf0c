"""Lose every standby under load, restart the primary, lose it and promote a standby: nothing acknowledged is missing.

A COMMIT that waits for a standby is on one disk only. A restart shows it to all: requests that repeat their key find
it, and may not be answered as if it could not be lost (docs/decisions: never cancel a commit).
"""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.system import System
from campus_tools.servers import ServerPorts, Servers
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from lab.drills.doubled import pay_without_kept_connections
from lab.drills.freeze import FREEZE_SETTINGS
from lab.drills.scale.availability import WRITE, under_load
from lab.drills.scale.journeys import Journeys
from lab.drills.scale.outcome import record_outcome
from lab.drills.scale.servers import ReplicatedDatabase, replicated_database
from lab.histories.recording import History
from lab.histories.verdict import record_verdict
from lab.report import Report
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, clients_of, rows_of, stopped_at_the_end
from operations.connecting import connected
from operations.journey import Marketplace
from operations.services import service_named

# Orders are in every state when the standby dies, and again after the failover.
_WARM_SECONDS: Final = 15.0
_ORDERS: Final = "SELECT id FROM orders"
_PAYABLE: Final = "SELECT id FROM payable_orders"


@dataclass(frozen=True, slots=True)
class FailoverLoad:
    """Orders per second, and the seconds without a standby before and after the restart of the primary."""

    orders_per_second: float
    down_seconds: float


async def drill_failover(folder: Path, load: FailoverLoad, log: Log) -> Report:
    """Run the drill on a system of its own. Raises ServerUnavailable when a server does not start."""
    port_base = free_port_base()
    database = replicated_database(folder, port_base, log)
    broker = PrivateRabbitmq(folder, ServerPorts.above(port_base), report=log)
    origin = "PostgreSQL with a replica, and RabbitMQ as private processes"
    servers = Servers(database, broker, None, broker.management_url, folder, origin)
    history = History.new("failover")
    log("starting PostgreSQL with a standby, and RabbitMQ")
    async with stopped_at_the_end(servers):
        await asyncio.to_thread(servers.start)
        log("starting the system")
        environment = {**NO_QUOTA, **NO_TRACING, **FREEZE_SETTINGS}
        async with (
            System(folder / "state", port_base, environment, servers=servers) as system,
            clients_of(system, history) as market,
        ):
            return await _Drill(system, database, market, history, load, log).run()


@dataclass(slots=True)
class _Drill:
    system: System
    database: ReplicatedDatabase
    market: Marketplace
    history: History
    load: FailoverLoad
    log: Log

    async def run(self) -> Report:
        await self._let_the_edge_go_on()
        await pay_without_kept_connections(self.market, self.system)
        report, journeys = Report(), await Journeys.open(self.market)
        async with under_load(self.market, journeys, self.load.orders_per_second) as prober:
            await asyncio.sleep(_WARM_SECONDS)
            began, ended, shown = await self._fail_over()
            await asyncio.sleep(_WARM_SECONDS)
        self.log("waiting for orders and payouts that are under way")
        await record_outcome(report, self.system, self.market, journeys)
        await self._record_lost(report, shown)
        writes = [probe for probe in prober.probes if probe.kind == WRITE and began <= probe.began < ended]
        early = [probe for probe in writes if probe.succeeded and probe.ended < ended]
        report.rows["writes sent while no standby was there"] = str(len(writes))
        report.require_none("of them acknowledged before the failover", early)
        report.require_none(
            "violated invariants of the audit", await broken_invariants(self.system, self.market, self.log)
        )
        await record_verdict(report, self.system, self.market)
        return report

    async def _fail_over(self) -> tuple[float, float, set[UUID]]:
        """Lose the standby, restart the primary, lose it and promote the standby.

        Return the first and the last instant without a standby, and the orders that the primary showed last.
        """
        self.log(f"killing the standby for {2 * self.load.down_seconds:.0f} s")
        await asyncio.to_thread(self.database.replica.kill)
        began, instant = time.monotonic(), time.time()
        await asyncio.sleep(self.load.down_seconds)
        self.log("killing and starting the primary: it shows what it did not acknowledge")
        await asyncio.to_thread(self.database.primary.kill)
        await asyncio.to_thread(self.database.primary.start)
        await asyncio.sleep(self.load.down_seconds)
        shown = {row["id"] for row in await rows_of(self.system, "orders", _ORDERS)}
        self.log("killing the primary and promoting the standby")
        await asyncio.to_thread(self.database.primary.kill)
        ended = time.monotonic()
        # Reads saw commits that no client was answered.
        self.history.write("restore", instant=instant, keepsWrites=True)
        await asyncio.to_thread(self.database.replica.start)
        await self.database.promote()
        await self.database.add_replica()
        return began, ended, shown

    async def _record_lost(self, report: Report, shown: set[UUID]) -> None:
        """Record the orders that only the lost primary had; no other service may have received one of them."""
        lost = shown - {row["id"] for row in await rows_of(self.system, "orders", _ORDERS)}
        payable = {row["id"] for row in await rows_of(self.system, "payments", _PAYABLE)}
        report.require("orders that only the lost primary showed", len(lost), holds=bool(lost))
        report.require_none("of them published", lost & payable)

    async def _let_the_edge_go_on(self) -> None:
        """Let the edge's commits wait for no standby, as on servers of its own: requests reach the services."""
        name = service_named("api-gateway").database
        async with connected(self.database.url) as connection:
            await connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = 'local'")
            # A session reads the setting when it opens.
            await connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
