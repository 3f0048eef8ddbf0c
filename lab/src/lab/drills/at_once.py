"""Three provisioners, migrations, API processes and workers of every service start at once on an empty system."""

import asyncio
import itertools
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.system import System
from campus_tools.servers import ServerPorts, find_servers
from lab.drills.doubled import READY_SECONDS
from lab.drills.history import Activity, History, Users
from lab.report import Report
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, clients_of, rows_of, stopped_at_the_end
from operations.environment import Environments, callers_environment
from operations.processes import CAMPUS, ProcessPlan, SystemPlan
from operations.provision import provision_databases
from operations.secrets import load_secrets
from operations.services import Service

COPIES: Final = 3
# The first port above the port base for further instances.
_FIRST_PORT: Final = 30
# Long enough for a purchase on a busy machine.
_WINDOW_SECONDS: Final = 60
_EXPIRED: Final = (
    "SELECT subject, count(*) AS times FROM outbox WHERE type = 'orders.order_expired.v1' GROUP BY subject"
)


async def drill_start(folder: Path, each: int, log: Log) -> Report:
    """Start three instances of everything at once, place paid and unpaid orders, and audit."""
    port_base, report = free_port_base(), Report()
    servers = find_servers(folder, ServerPorts.above(port_base), environment={}, report=log)
    async with stopped_at_the_end(servers):
        log("starting empty servers")
        await asyncio.to_thread(servers.start)
        secrets = load_secrets(folder, {})
        began = time.monotonic()
        log(f"{COPIES} provisioners at once")
        await asyncio.gather(*(provision_databases(servers.database_url, secrets) for _ in range(COPIES)))
        provisioned = time.monotonic()
        log(f"{COPIES} migrations of each service at once")
        environment = {**NO_QUOTA, **NO_TRACING, "PAYMENT_WINDOW_SECONDS": str(_WINDOW_SECONDS)}
        environments = Environments(
            callers_environment(environment), port_base=port_base, state_dir=folder, servers=servers, secrets=secrets
        )
        await asyncio.gather(*(_migrate(environments, service) for service in CAMPUS.services for _ in range(COPIES)))
        migrated = time.monotonic()
        plan = three_of_each(CAMPUS)
        log(f"{len(plan.processes)} processes at once")
        report.rows["three provisioners; three migrations of each service"] = (
            f"{provisioned - began:.1f} s, {migrated - provisioned:.1f} s"
        )
        async with System(
            folder, port_base, environment, plan=plan, servers=servers, ready_seconds=READY_SECONDS
        ) as system:
            report.rows["processes; all ready after"] = f"{len(system.processes)}; {time.monotonic() - migrated:.1f} s"
            await _verify(system, report, each, log)
    return report


async def _verify(system: System, report: Report, each: int, log: Log) -> None:
    """No process restarts, each timer fires once, and the audit finds nothing."""
    async with clients_of(system) as market:
        activity = Activity(await Users.sign_in(market), History())
        log(f"{each} purchases, and {each} orders without a payment")
        await activity.stock_product()
        unpaid = [(await activity.placed())[0] for _ in range(each)]
        for _ in range(each):
            await activity.delivered(await activity.paid())
        await activity.paid_out(activity.history.next_amount())
        for order_id in unpaid:
            await market.order_reaches(activity.users.buyer, order_id, "expired", within=10 * _WINDOW_SECONDS)
        expired = [row["times"] for row in await rows_of(system, "orders", _EXPIRED)]
        restarts = {process.name: process.restarts for process in system.processes if process.restarts}
        report.require_none("restarted processes", restarts)
        report.rows["purchases up to the paid-out vendor"] = str(each)
        report.require("unpaid orders; expiries of each", f"{each}, {expired}", holds=expired == [1] * each)
        report.require_none("violated invariants of the audit", await broken_invariants(system, market, log))


def three_of_each(plan: SystemPlan) -> SystemPlan:
    """Three instances of every process except the sandbox."""
    used = {port for process in plan.processes for port in (process.port_offset, process.health_offset)}
    ports = (port for port in itertools.count(_FIRST_PORT) if port not in used)
    copies: list[ProcessPlan] = []
    for process in plan.processes:
        if process.service == "sandbox":
            continue
        for number in range(2, COPIES + 1):
            port = next(ports)
            health = port if process.health_offset == process.port_offset else next(ports)
            copies.append(replace(process, name=f"{process.name}-{number}", port_offset=port, health_offset=health))
    return replace(plan, processes=(*plan.processes, *copies))


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
