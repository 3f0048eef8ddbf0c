"""Three provisioners, migrations, API processes and workers of every service start at once on an empty system."""

import asyncio
import itertools
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import asyncpg

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.system import System
from campus_tools.servers import ServerPorts, Servers, find_servers
from lab.drills.doubled import READY_SECONDS
from lab.drills.history import Actors, History, Play
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, database_of
from operations.environment import Environments, callers_environment
from operations.journey import Marketplace
from operations.processes import CAMPUS, ProcessPlan, SystemPlan
from operations.provision import provision_databases
from operations.secrets import load_secrets
from operations.services import Service

COPIES: Final = 3
# The first port above the port base that neither the plan nor the servers use.
_FIRST_PORT: Final = 30
# Long enough for a purchase on a busy machine.
_WINDOW_SECONDS: Final = 60
_EXPIRED: Final = (
    "SELECT subject, count(*) AS times FROM outbox WHERE type = 'orders.order_expired.v1' GROUP BY subject"
)


@dataclass(frozen=True, slots=True)
class StartFigures:
    """The figures of the drill. `expired`: the number of expiry events of each unpaid order."""

    processes: int
    provisioned_seconds: float
    migrated_seconds: float
    ready_seconds: float
    restarts: dict[str, int]
    purchases: int
    expired: dict[str, int]
    unpaid: int
    broken_invariants: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether no process restarted, each timer fired once, and the audit found nothing."""
        once = len(self.expired) == self.unpaid and set(self.expired.values()) <= {1}
        return once and not self.restarts and not self.broken_invariants


async def drill_start(folder: Path, each: int, log: Log) -> StartFigures:
    """Start three instances of everything at once, place paid and unpaid orders, and audit."""
    port_base = free_port_base()
    servers = find_servers(folder, ServerPorts.above(port_base), environment={}, report=log)
    try:
        log("starting empty servers")
        await asyncio.to_thread(servers.start)
        secrets = load_secrets(folder, {})
        began = time.monotonic()
        log(f"{COPIES} provisioners at once")
        await asyncio.gather(*(provision_databases(servers.database_url, secrets) for _ in range(COPIES)))
        provisioned = time.monotonic()
        log(f"{COPIES} migrations of each service at once")
        environment = {**NO_QUOTA, **NO_TRACING, "PAYMENT_WINDOW_SECONDS": str(_WINDOW_SECONDS)}
        environments = _environments(servers, secrets, port_base, folder, environment)
        await asyncio.gather(*(_migrate(environments, service) for service in CAMPUS.services for _ in range(COPIES)))
        migrated = time.monotonic()
        plan = _three_of_each(CAMPUS)
        log(f"{len(plan.processes)} processes at once")
        system = System(
            folder, port_base, environment, plan=plan, servers=servers, ready_seconds=READY_SECONDS
        )  # fmt: skip
        async with system:
            times = (provisioned - began, migrated - provisioned, time.monotonic() - migrated)
            return await _verify(system, times, each, log)
    finally:
        await asyncio.to_thread(servers.stop)
        servers.remove_data()


async def _verify(system: System, times: tuple[float, float, float], each: int, log: Log) -> StartFigures:
    market = Marketplace.at(system.base_url, system.sandbox_url, system.secrets, patient=True)
    try:
        play = Play(await Actors.sign_in(market), History())
        log(f"{each} purchases, and {each} orders without a payment")
        await play.stock_product()
        unpaid = [(await play.placed())[0] for _ in range(each)]
        for _ in range(each):
            await play.delivered(await play.paid())
        await play.paid_out(play.history.next_amount())
        for order_id in unpaid:
            await market.order_reaches(play.actors.buyer, order_id, "expired", within=10 * _WINDOW_SECONDS)
        connection = await asyncpg.connect(database_of(system, "orders"))
        try:
            expired = {row["subject"]: row["times"] for row in await connection.fetch(_EXPIRED)}
        finally:
            await connection.close()
        return StartFigures(
            len(system.processes),
            *times,
            {process.name: process.restarts for process in system.processes if process.restarts},
            each,
            expired,
            len(unpaid),
            await broken_invariants(system, market, log),
        )
    finally:
        await market.close()


def _three_of_each(plan: SystemPlan) -> SystemPlan:
    """Three instances of every process except the sandbox."""
    ports = itertools.count(_FIRST_PORT)
    copies: list[ProcessPlan] = []
    for process in plan.processes:
        if process.service == "sandbox":
            continue
        for number in range(2, COPIES + 1):
            port = next(ports)
            health = port if process.health_offset == process.port_offset else next(ports)
            copies.append(replace(process, name=f"{process.name}-{number}", port_offset=port, health_offset=health))
    return replace(plan, processes=(*plan.processes, *copies))


def _environments(
    servers: Servers, secrets: dict[str, str], port_base: int, folder: Path, environment: dict[str, str]
) -> Environments:
    return Environments(
        callers_environment(environment), port_base=port_base, state_dir=folder, servers=servers, secrets=secrets
    )


async def _migrate(environments: Environments, service: Service) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        service.import_name,
        "migrate",
        env=environments.for_migration(service),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode != os.EX_OK:
        raise OSError(f"migrate of {service.name}: {output.decode(errors='replace')[-2000:]}")
