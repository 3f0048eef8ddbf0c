"""Operating drills, each with a separate system; status 1 when an invariant was violated.

`freeze` stops the broker, the database or Redis without ending it, or drops its packets: everything acknowledged arrives
within 30 s afterwards.
`restore` destroys the databases and the broker, restores the databases to an instant, and lets the payment gateway
resend the webhooks of its last three days: no money moves twice.
`scale` stops each node of a replicated system under load: RabbitMQ, PostgreSQL, Redis, and an instance of each process;
then it freezes nodes and drops their packets.
`start` starts three instances of every process at once on empty servers.
`upgrade` replaces an older version by this one under load: schema first, then process by process; no request fails.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from campus_tools.launcher import StartFailed
from campus_tools.servers import ServerUnavailable
from lab.bench.programs import BenchFailed
from lab.counts import one_or_more
from lab.drills.at_once import StartFigures, drill_start
from lab.drills.containers import runtime_of
from lab.drills.freeze import FROZEN, INTERRUPTIONS, drill_freeze, system_with_redis
from lab.drills.restore import RestoreFigures, RestoreLoad, drill_restore
from lab.drills.scale import STOPS, ScaleFigures, ScaleLoad, drill_scale
from lab.drills.upgrade import UpgradeFigures, drill_upgrade, drill_upgrade_of_images
from lab.systems import logger
from operations.journey import StepFailed

_log = logger("drill")
_STOPPED = (BenchFailed, StartFailed, ServerUnavailable, StepFailed, TimeoutError, OSError, httpx.HTTPError)


def main() -> int:
    options = _parser().parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="campus-drill-", ignore_cleanup_errors=True) as folder:
            holds: bool = asyncio.run(options.run(options, Path(folder)))
    except _STOPPED as error:
        sys.stderr.write(f"{error or type(error).__name__}\n")
        return 1
    return 0 if holds else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lab.drills",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(dest="what", required=True)
    freeze = kinds.add_parser("freeze", help="freeze a server under load")
    freeze.add_argument("--server", nargs="+", choices=FROZEN, default=FROZEN, help="the servers to freeze (all)")
    freeze.add_argument(
        "--seconds", nargs="+", type=float, default=[20.0, 40.0, 120.0], help="how long each is frozen (20 40 120)"
    )
    freeze.add_argument(
        "--mode",
        choices=INTERRUPTIONS,
        default="freeze",
        help="freeze: SIGSTOP; drop: drop all packets, needs root and nft or iptables",
    )
    freeze.set_defaults(run=_freeze)
    restore = kinds.add_parser("restore", help="restore the databases to an earlier instant")
    restore.add_argument("--each", type=one_or_more, default=3, help="orders of each kind")
    restore.add_argument(
        "--skew",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="payouts' database is this much older than the others",
    )
    _add_images(restore)
    restore.set_defaults(run=_restore)
    start = kinds.add_parser("start", help="start three instances of every process at once")
    start.add_argument("--each", type=one_or_more, default=3, help="purchases, and orders without a payment")
    start.set_defaults(run=_start)
    scale = kinds.add_parser("scale", help="stop each node of a replicated system under load")
    scale.add_argument("--rate", type=float, default=2.0, metavar="N", help="orders per second (2)")
    scale.add_argument("--down", type=float, default=8.0, metavar="SECONDS", help="how long a server is down (8)")
    scale.add_argument(
        "--unresponsive",
        type=float,
        default=40.0,
        metavar="SECONDS",
        help="how long a server is frozen or its packets are dropped (40)",
    )
    scale.add_argument("--stop", nargs="+", choices=STOPS, default=STOPS, help="the parts to stop (all)")
    scale.set_defaults(run=_scale)
    upgrade = kinds.add_parser("upgrade", help="replace an older version by this one under load")
    upgrade.add_argument(
        "--from",
        dest="old",
        metavar="COMMIT",
        help="the old version; by default the commit before the newest migration (or that of the initial one)",
    )
    upgrade.add_argument(
        "--from-images", type=Path, metavar="FOLDER", help="images.txt of the old version, with --images"
    )
    _add_images(upgrade)
    upgrade.set_defaults(run=_upgrade)
    return parser


def _add_images(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="run containers of the images that images.txt of this folder names",
    )


async def _start(options: argparse.Namespace, folder: Path) -> bool:
    return _show_start(await drill_start(folder, options.each, _log))


def _show_start(figures: StartFigures) -> bool:
    table = Table("what", "seen")
    table.add_row(
        "three provisioners; three migrations of each service",
        f"{figures.provisioned_seconds:.1f} s, {figures.migrated_seconds:.1f} s",
    )
    table.add_row("processes; all ready after", f"{figures.processes}; {figures.ready_seconds:.1f} s")
    table.add_row("restarted processes", str(figures.restarts or "none"))
    table.add_row("purchases up to the paid-out vendor", str(figures.purchases))
    table.add_row("unpaid orders; expiries of each", f"{figures.unpaid}, {sorted(figures.expired.values())}")
    table.add_row("violated invariants of the audit", _none(figures.broken_invariants))
    Console(width=150).print(table)
    return figures.holds


async def _freeze(options: argparse.Namespace, folder: Path) -> bool:
    table = Table(
        "mode", "server", "for", "orders", "all arrived after", "slowest readiness", "late", "restarts", "audit"
    )
    holds = True
    async with system_with_redis(folder, _log) as (system, market):
        for name in options.server:
            for seconds in options.seconds:
                figures = await drill_freeze(system, market, name, seconds, _log, options.mode)
                holds &= figures.holds
                table.add_row(
                    figures.mode,
                    name,
                    f"{seconds:.0f} s",
                    str(figures.orders),
                    f"{figures.arrived_after_seconds:.1f} s",
                    f"{figures.slowest_readiness_seconds:.1f} s",
                    _none(figures.late),
                    str(figures.restarts or "none"),
                    _none(figures.broken_invariants),
                )
    Console(width=150).print(table)
    return holds


async def _scale(options: argparse.Namespace, folder: Path) -> bool:
    return _show_scale(
        await drill_scale(folder, ScaleLoad(options.rate, options.down, options.unresponsive, options.stop), _log)
    )


def _show_scale(figures: ScaleFigures) -> bool:
    heading = ("failed", "for", "longest")
    stops = Table(
        "stopped", "back after", *(f"{kind} {name}" for kind in ("reads", "writes") for name in heading), "order"
    )
    for stop in figures.stops:
        stops.add_row(
            stop.name,
            f"{stop.back_seconds:.0f} s",
            *(
                cell
                for seen in (stop.reads, stop.writes)
                for cell in (
                    f"{seen.failed} of {seen.requests}",
                    f"{seen.seconds:.1f} s",
                    f"{seen.longest_seconds:.1f} s",
                )
            ),
            f"{stop.slowest_order_seconds:.0f} s",
        )
    outcome = figures.outcome
    table = Table("what", "seen")
    table.add_row("processes; quorum queues, with three members", f"{figures.processes}; {figures.replicated}")
    table.add_row("orders started, completed", f"{outcome.started}, {outcome.completed}")
    table.add_row("payouts requested, processed", f"{outcome.payouts}, {outcome.paid_out}")
    table.add_row("failed orders and payouts", _none(outcome.failures))
    table.add_row("lost", _none(outcome.lost))
    table.add_row("doubled", _none(outcome.doubled))
    table.add_row("violated invariants of the audit", _none(figures.broken_invariants))
    console = Console(width=150)
    console.print(stops)
    console.print(table)
    return figures.holds


async def _upgrade(options: argparse.Namespace, folder: Path) -> bool:
    if options.images is None:
        return _show_upgrade(await drill_upgrade(folder, options.old, _log))
    if options.from_images is None:
        raise BenchFailed("--images needs --from-images: the folder with images.txt of the old version")
    return _show_upgrade(await drill_upgrade_of_images(folder, options.from_images, options.images, _log))


def _show_upgrade(figures: UpgradeFigures) -> bool:
    table = Table("what", "seen")
    table.add_row("from", figures.old)
    table.add_row("revisions applied under the old code", f"{figures.revisions}, in {figures.migrated_seconds:.1f} s")
    table.add_row("processes replaced", f"{figures.rolled}, in {figures.rolled_seconds:.1f} s")
    for name, count in figures.succeeded.items():
        table.add_row(name, f"{count} succeeded")
    table.add_row("failed requests", f"{len(figures.failures)}\n{chr(10).join(figures.failures[:20])}".strip())
    table.add_row("violated invariants of the audit", _none(figures.broken_invariants))
    Console(width=150).print(table)
    return figures.holds


async def _restore(options: argparse.Namespace, folder: Path) -> bool:
    with runtime_of(options.images) as runtime:
        return _show_restore(await drill_restore(folder, RestoreLoad(options.each, options.skew), _log, runtime))


def _show_restore(figures: RestoreFigures) -> bool:
    table = Table("what", "seen")
    table.add_row("database server restored after", f"{figures.restore_seconds:.1f} s")
    table.add_row("payouts were blocked until the comparison", "yes" if figures.was_blocked else "NO")
    table.add_row(
        "dispatches rejected; the first one accepted after",
        f"{figures.refused_dispatches}, {figures.until_dispatch_seconds:.1f} s",
    )
    table.add_row("messages republished", ", ".join(f"{count} {name}" for name, count in figures.republished.items()))
    table.add_row("webhooks resent", str(figures.webhooks_again))
    table.add_row("transfers missing in the ledger", str(figures.found or "none"))
    table.add_row("transfers; not exactly once", f"{figures.transfers}; {_none(figures.wrong_transfers)}")
    table.add_row("wrong refunds", _none(figures.wrong_refunds))
    table.add_row("charges; wrong ones", f"{figures.charges}; {_none(figures.wrong_charges)}")
    table.add_row("results of the comparisons", figures.reconciled)
    table.add_row("dead letters left", str(figures.dead_letters or "none"))
    table.add_row("violated invariants of the audit", _none(figures.broken_invariants))
    Console(width=150).print(table)
    return figures.holds


def _none(lines: tuple[str, ...]) -> str:
    return "\n".join(lines) or "none"


if __name__ == "__main__":
    sys.exit(main())
