"""Rotate every secret of a running system by the commands of the runbooks, under load without failed requests.

    python -m lab.drills.rotation --overlap 20        # make rotation-drill
    python -m lab.drills.rotation --compromised       # make compromise-drill

The separate system has two instances of each API process behind balancers, as on Kubernetes. The drill shortens only
the overlap of old and new, which is 1,800 s in the runbooks: a signing key is retired when its last token has expired,
after 18 minutes.
"""

import argparse
import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from campus_tools.launcher import StartFailed
from campus_tools.servers import ServerUnavailable
from lab.bench.programs import BenchFailed
from lab.drills.containers import runtime_of
from lab.drills.doubled import doubled_system, pay_without_kept_connections
from lab.drills.language_model import model_company
from lab.drills.load import Load
from lab.drills.rotation.compromise import revoke_compromised
from lab.drills.rotation.environment import DrillEnvironment, log
from lab.drills.rotation.failures import DrillFailed
from lab.drills.rotation.rotations import ALL, rotate
from lab.soak.stock import add_stock
from lab.systems import NO_QUOTA, NO_TRACING, seconds_since_start
from operations.journey import Marketplace, StepFailed
from operations.secrets import new_key

_STOPPED = (BenchFailed, StartFailed, ServerUnavailable, StepFailed, TimeoutError, OSError, httpx.TransportError)


async def run_drill(options: argparse.Namespace) -> bool:
    """Run the drill; whether no request failed and every old secret is rejected."""
    with tempfile.TemporaryDirectory(prefix="campus-drill-", ignore_cleanup_errors=True) as folder:
        async with AsyncExitStack() as stack:
            company = await stack.enter_async_context(model_company(f"ai_drill_{new_key()}"))
            log("starting the system, two instances of each API process")
            environment = {
                # An order of the drill is about 1,000 kobo.
                "PAYOUT_TRANSFER_MINIMUM_MINOR": "1",
                **NO_QUOTA, **NO_TRACING, "AI_BASE_URL": company.url,
                "AI_API_KEY": next(iter(company.keys)),
            }  # fmt: skip
            runtime = stack.enter_context(runtime_of(options.images))
            doubled = await stack.enter_async_context(
                doubled_system(folder, environment, options.port_base, runtime=runtime)
            )
            stack.enter_context(doubled.rolling_by_signal())
            system = doubled.system
            market = Marketplace.at(system.base_url, system.sandbox_url, system.secrets)
            await pay_without_kept_connections(market, system)
            stack.push_async_callback(market.close)
            lowered = await market.sandbox.put("/control/settings", json={"transfer_minimum_minor": 1})
            lowered.raise_for_status()
            product_ids = await add_stock(market, await market.sign_in("vendor@unilag.edu.ng"), 1_000_000)
            load = Load(market, product_ids, system.secrets["GATEWAY_SECRET_KEY"], system.secrets["SERVICE_ROLE_KEY"])
            drill = DrillEnvironment(system, load, company, options.overlap)
            await load.start()
            problem = None
            try:
                await asyncio.sleep(10)
                await (revoke_compromised(drill) if options.compromised else rotate(drill, options.only))
                await asyncio.sleep(5)
            except DrillFailed as error:
                problem = str(error)
            await load.stop()
            load.failures += await _webhooks_that_failed(market)
            return _show(drill, problem)


async def _webhooks_that_failed(market: Marketplace) -> list[str]:
    """Return the sandbox's webhooks that were not accepted at the first attempt."""
    rows = (await market.sandbox.get("/control/webhooks", params={"target": "gateway", "limit": 1000})).json()
    listed = rows["data"] if isinstance(rows, dict) else rows
    return [
        f"{attempt['attempted_at']} webhook {row['event']} of the sandbox: {attempt['status_code']} {attempt['failure'] or ''}"
        for row in listed
        for attempt in row["attempts"]
        if attempt["status_code"] != 200
    ]


def _show(drill: DrillEnvironment, problem: str | None) -> bool:
    table = Table("what", "seen")
    for name, count in drill.load.succeeded.items():
        table.add_row(name, f"{count} succeeded")
    for what, seen in drill.rows:
        table.add_row(what, seen)
    if drill.load.refused:
        table.add_row("function calls rejected before their caller had the new key", str(drill.load.refused))
    table.add_row("failed requests", str(len(drill.load.failures)))
    table.add_row("duration", f"{seconds_since_start():.0f} s")
    console = Console(width=150)
    console.print(table)
    for failure in drill.load.failures[:20]:
        console.print(failure, highlight=False, markup=False)
    if problem:
        console.print(problem, style="bold red", highlight=False, markup=False)
    return problem is None and not drill.load.failures


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m lab.drills.rotation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--overlap", type=float, default=20.0, metavar="SECONDS", help="time in which both secrets are valid"
    )
    parser.add_argument("--compromised", action="store_true", help="revoke at once, redeploy, and read the audit trail")
    parser.add_argument("--only", action="append", choices=ALL, help="rotate these secrets only")
    parser.add_argument(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="run containers of the images that images.txt of this folder names",
    )
    parser.add_argument("--port-base", type=int, help="of the drill's system; a free one by default")
    try:
        return 0 if asyncio.run(run_drill(parser.parse_args())) else 1
    except _STOPPED as error:
        sys.stderr.write(f"{error or type(error).__name__}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
