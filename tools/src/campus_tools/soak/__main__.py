"""`python -m campus_tools.soak webhooks [--count 10000] [--rate 100] [--kills 10]`: starts a system of its own, prints the figures.

Ends with status 1 when a promise was broken.
"""

import argparse
import asyncio
import sys
import tempfile
import time

from rich.console import Console
from rich.table import Table

from campus_tools.bench.programs import BenchFailed
from campus_tools.bench.stage import NO_QUOTA
from campus_tools.journey import Marketplace
from campus_tools.launcher import StartFailed, System
from campus_tools.servers import ServerUnavailable
from campus_tools.soak.webhooks import Figures, Load, soak_webhooks

_BEGAN = time.monotonic()
# The intake answers within this at the rate of the promise (99 of 100).
P99_MS_MAX = 100.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m campus_tools.soak", description=__doc__)
    parser.add_argument("what", choices=["webhooks"])
    parser.add_argument("--count", type=int, default=10_000, help="webhooks in all")
    parser.add_argument("--rate", type=float, default=100.0, help="webhooks in a second")
    parser.add_argument("--kills", type=int, default=10, help="how often payments' worker is killed")
    options = parser.parse_args()
    try:
        figures = asyncio.run(_soak(Load(options.count, options.rate, options.kills)))
    except (BenchFailed, StartFailed, ServerUnavailable, TimeoutError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    _show(figures)
    return 0 if figures.holds and figures.p99_ms <= P99_MS_MAX else 1


async def _soak(load: Load) -> Figures:
    with tempfile.TemporaryDirectory(prefix="campus-soak-", ignore_cleanup_errors=True) as folder:
        _say("starting the system")
        async with System(folder, environment={**NO_QUOTA, "OTEL_EXPORTER_OTLP_ENDPOINT": ""}) as system:
            market = Marketplace.at(system.base_url, system.sandbox_url, system.secrets, patient=True)
            try:
                return await soak_webhooks(system, market, load, _say)
            finally:
                await market.close()
                await asyncio.to_thread(system.stop)
                system.servers.remove_data()


def _show(figures: Figures) -> None:
    table = Table("what", "seen")
    table.add_row("webhooks answered 200", str(figures.sent))
    table.add_row("of them repetitions, before their subject", f"{figures.duplicates}, {figures.early}")
    table.add_row(
        "answer, median / 99th / longest", f"{figures.p50_ms:.1f} / {figures.p99_ms:.1f} / {figures.longest_ms:.1f} ms"
    )
    table.add_row("payments' worker killed", f"{figures.kills} times")
    table.add_row("last effect after the last webhook", f"{figures.effects_seconds:.1f} s")
    table.add_row("broken promises of the audit", "\n".join(figures.broken_promises) or "none")
    Console(width=150).print(table)


def _say(text: str) -> None:
    print(f"soak {time.monotonic() - _BEGAN:5.0f} s  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
