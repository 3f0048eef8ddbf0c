"""`python -m lab.bench [--quick] [path ...]`: measure the hot paths, print a table and write `bench-results.json`."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from campus_tools.launcher import StartFailed
from campus_tools.servers import ServerUnavailable
from lab.bench import report
from lab.bench.environment import BenchEnvironment, enter_concurrently
from lab.bench.figures import FULL, QUICK, Effort, Row
from lab.bench.paths import (
    catalog,
    checkout,
    console,
    gateway,
    ledger_post,
    memory,
    order,
    outbox_to_consumer,
    own_orders,
    product_page,
    publish,
    tracing,
    vendure,
    webhook_intake,
)
from lab.bench.programs import BenchFailed
from lab.bench.seeds import seed_catalog, seed_orders
from lab.bench.versions import running_version, this_version, version_of
from lab.systems import logger, seconds_since_start, temporary_system
from operations.processes import ON_ONE_MACHINE
from testkit.service_kit import issuing

_log = logger("bench")
RESULTS = Path("bench-results.json")
# The order matters: paths that need a quiet system run before those that write many rows.
PATHS: dict[str, Callable[[BenchEnvironment], Awaitable[list[Row]]]] = {
    "memory": memory.measure,
    "order": order.measure,
    "gateway": gateway.measure,
    "product_page": product_page.measure,
    "catalog": catalog.measure,
    "tracing": tracing.measure,
    "checkout": checkout.measure,
    "console": console.measure,
    "own_orders": own_orders.measure,
    "ledger_post": ledger_post.measure,
    "outbox_to_consumer": outbox_to_consumer.measure,
    "publish": publish.measure,
    "webhook_intake": webhook_intake.measure,
    "vendure": vendure.measure,
}
# It installs another shop's packages, so it is measured by name only.
BY_NAME = {"vendure"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description="Measure each hot path and its limit.")
    parser.add_argument("--quick", action="store_true", help="six minutes, with less precision")
    parser.add_argument(
        "--against", metavar="COMMIT", help="measure the orders of this version and of a commit in turns"
    )
    parser.add_argument("--rate", type=float, default=order.RATE, help="orders per second at the fixed rate")
    parser.add_argument("--minutes", type=float, help="measure the fixed rate once, for this long")
    parser.add_argument("paths", nargs="*", choices=[[], *PATHS], help="measure these paths only")
    arguments = parser.parse_args()
    terminal = Console()
    # Without a terminal the table has a fixed width.
    terminal = terminal if terminal.is_terminal else Console(width=150)
    effort = QUICK if arguments.quick else FULL
    if arguments.minutes:
        effort = replace(effort, rounds=1, rate_seconds=arguments.minutes * 60)
    names = arguments.paths or [name for name in PATHS if name not in BY_NAME]
    if arguments.against and names != ["order"]:
        parser.error("--against compares orders: name the path `order`")
    try:
        run = _orders(arguments.against, effort, arguments.rate) if names == ["order"] else _measure(names, effort)
        rows = asyncio.run(run)
    except (BenchFailed, StartFailed, ServerUnavailable) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    report.show(rows, terminal)
    report.show_parts(rows, terminal)
    report.write(rows, RESULTS, form="quick" if arguments.quick else "full", seconds=seconds_since_start())
    terminal.print(f"Written to {RESULTS}.")
    return 0


async def _orders(against: str | None, effort: Effort, rate: float) -> list[Row]:
    """Measure orders on systems without other data: of this version, and of a commit to compare with."""
    versions = [*([version_of(against, _log)] if against else []), this_version()]
    async with enter_concurrently(*(running_version(version, _log) for version in versions)) as systems:
        named = {version.name: system for version, system in zip(versions, systems, strict=True)}
        return order.rows(await order.measure_all(named, effort, _log, rate))


async def _measure(names: Sequence[str], effort: Effort) -> list[Row]:
    rows: list[Row] = []
    async with temporary_system("bench", _log, plan=ON_ONE_MACHINE) as (system, _), issuing() as issuer:
        bench = BenchEnvironment.of(system, effort, issuer, _log)
        _log("making 10,000 products and 50,000 orders")
        orders = await bench.make_database("orders")
        await bench.make_database("payments")
        await seed_catalog(orders.admin)
        await seed_orders(orders.admin)
        await seed_catalog(bench.system_database("orders"))
        for name in names:
            _log(f"measuring {name.replace('_', ' ')}")
            rows += await PATHS[name](bench)
    return rows


if __name__ == "__main__":
    sys.exit(main())
