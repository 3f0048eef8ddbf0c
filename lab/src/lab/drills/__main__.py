"""Operating drills, each with a separate system; status 1 when a promise did not hold."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.table import Table

from lab.bench.programs import BenchFailed
from lab.counts import one_or_more
from lab.drills.client_chaos.drill import drill_client_chaos
from lab.drills.containers import runtime_of
from lab.drills.failover import FailoverLoad, drill_failover
from lab.drills.freeze import FROZEN, INTERRUPTIONS, drill_freeze, system_with_redis
from lab.drills.installation.drill import drill_installation
from lab.drills.one_box import drill_one_box
from lab.drills.overload import drill_overload
from lab.drills.restore import RestoreLoad, drill_restore
from lab.drills.rotation.drill import drill_rotation
from lab.drills.rotation.rotations import ALL
from lab.drills.scale import STOPS, ScaleLoad, drill_scale
from lab.drills.upgrade import drill_upgrade, drill_upgrade_of_images
from lab.drills.world import FAULTS, drill_world
from lab.report import Report, exit_code_of
from lab.systems import keep_logs, logger, temporary_system

_log = logger("drill")
KEPT: Final = Path("build/drills")
"""The logs of the last run of each drill that did not hold its promises."""


def main() -> int:
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="campus-drill-", ignore_cleanup_errors=True) as folder:
        code = exit_code_of(options.run(options, Path(folder)))
        if code:
            _log(f"the logs of its processes and servers: {keep_logs(Path(folder), KEPT / options.what)}")
        return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab.drills", description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)

    freeze = kinds.add_parser("freeze", help="freeze a server under load: everything acknowledged arrives within 30 s")
    freeze.add_argument("--server", nargs="+", choices=FROZEN, default=FROZEN, help="the servers to freeze (all)")
    freeze.add_argument(
        "--seconds", nargs="+", type=float, default=[20.0, 40.0, 120.0], help="how long each is frozen (20 40 120)"
    )
    help_text = "freeze: SIGSTOP; drop: drop all packets, needs root and nft or iptables"
    freeze.add_argument("--mode", choices=INTERRUPTIONS, default="freeze", help=help_text)
    freeze.set_defaults(run=_freeze)

    restore = kinds.add_parser("restore", help="lose databases and broker, restore to an instant: no money moves twice")
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

    one_box = kinds.add_parser("one-box", help="lose a machine under orders, and restore it by campusctl")
    one_box.add_argument("--each", type=one_or_more, default=2, help="orders of each kind")
    one_box.set_defaults(run=lambda options, folder: drill_one_box(folder, options.each, _log))

    installation = kinds.add_parser("installation", help="install on an empty machine by campusctl, sell, and upgrade")
    installation.set_defaults(run=lambda _, folder: drill_installation(_log))

    clients = kinds.add_parser("clients", help="users of both clients buy, sell and are paid while servers are killed")
    clients.add_argument("--rounds", type=one_or_more, default=60, help="purchases of each buyer (60)")
    clients.add_argument("--seed", type=int, default=1, help="of the kills and the lost responses")
    clients.add_argument("--planted", action="store_true", help="repeat with new keys: holds when the checker finds it")
    clients.set_defaults(run=lambda options, _: _clients(options))

    scale = kinds.add_parser("scale", help="stop each node of a replicated system under load")
    scale.add_argument("--rate", type=float, default=2.0, metavar="N", help="orders per second (2)")
    scale.add_argument("--down", type=float, default=8.0, metavar="SECONDS", help="how long a server is down (8)")
    help_text = "how long a server is frozen or its packets are dropped (40)"
    scale.add_argument("--unresponsive", type=float, default=40.0, metavar="SECONDS", help=help_text)
    scale.add_argument("--stop", nargs="+", choices=STOPS, default=STOPS, help="the parts to stop (all)")
    scale.set_defaults(
        run=lambda given, folder: drill_scale(
            folder, ScaleLoad(given.rate, given.down, given.unresponsive, given.stop), _log
        )
    )

    failover = kinds.add_parser(
        "failover", help="lose the standby, the primary and a failover: nothing acknowledged is lost"
    )
    failover.add_argument("--rate", type=float, default=1.0, metavar="N", help="orders per second (1)")
    help_text = "without a standby before the primary restarts, and again after it (20)"
    failover.add_argument("--down", type=float, default=20.0, metavar="SECONDS", help=help_text)
    failover.set_defaults(run=lambda given, folder: drill_failover(folder, FailoverLoad(given.rate, given.down), _log))

    overload = kinds.add_parser(
        "overload", help="three times the load that the machine carries, and back without a hand"
    )
    overload.add_argument("--seconds", type=float, default=60.0, help="how long the overload lasts (60)")
    overload.set_defaults(run=lambda given, _: _overload(given.seconds))

    upgrade = kinds.add_parser("upgrade", help="replace an older version by this one under load; no request fails")
    help_text = "the old version; by default the commit before the newest migration (or that of the initial one)"
    upgrade.add_argument("--from", dest="old", metavar="COMMIT", help=help_text)
    help_text = "and run both versions side by side: by each of so many seeds every process has one of them"
    upgrade.add_argument("--skew", type=int, default=0, metavar="SEEDS", help=help_text)
    upgrade.add_argument("--first", type=int, default=1, metavar="SEED", help="the first seed of --skew (1)")
    help_text = "images.txt of the old version, with --images"
    upgrade.add_argument("--from-images", type=Path, metavar="FOLDER", help=help_text)
    _add_images(upgrade)
    upgrade.set_defaults(run=_upgrade)

    rotation = kinds.add_parser("rotation", help="rotate every secret by its runbook under load; no request fails")
    help_text = "time in which both secrets are valid"
    rotation.add_argument("--overlap", type=float, default=20.0, metavar="SECONDS", help=help_text)
    rotation.add_argument(
        "--compromised", action="store_true", help="revoke at once, redeploy, and read the audit trail"
    )
    rotation.add_argument("--only", action="append", choices=ALL, help="rotate these secrets only")
    _add_images(rotation)
    rotation.set_defaults(
        run=lambda given, folder: drill_rotation(
            folder, overlap_seconds=given.overlap, compromised=given.compromised, only=given.only, images=given.images
        )
    )

    world = kinds.add_parser("world", help="break disks, clocks, networks and parts of the broker under a light load")
    world.add_argument("--fault", nargs="+", choices=FAULTS, default=list(FAULTS), help="the faults, in turn (all)")
    world.add_argument("--seconds", type=float, default=20.0, help="how long most faults last (20)")
    world.add_argument("--rate", type=float, default=0.5, metavar="N", help="orders per second (0.5)")
    world.set_defaults(run=lambda given, folder: drill_world(folder, given.fault, given.seconds, given.rate, _log))
    return parser


def _add_images(parser: argparse.ArgumentParser) -> None:
    help_text = "run containers of the images that images.txt of this folder names"
    parser.add_argument("--images", type=Path, metavar="FOLDER", help=help_text)


async def _freeze(options: argparse.Namespace, folder: Path) -> Report:
    """Freeze each server for each time, and show a row for each of them."""
    table, whole = Table("server, mode, seconds"), Report()
    async with system_with_redis(folder, _log) as (system, market):
        for name in options.server:
            for seconds in options.seconds:
                report = await drill_freeze(system, market, name, seconds, _log, options.mode)
                if not table.rows:
                    for what in report.rows:
                        table.add_column(what)
                table.add_row(f"{name}, {options.mode}, {seconds:.0f}", *report.rows.values())
                whole.broken += [f"{name}, {seconds:.0f} s: {what}" for what in report.not_as_promised]
    whole.tables.append(table)
    whole.require_none("not as promised", list(whole.broken))
    return whole


async def _clients(options: argparse.Namespace) -> Report:
    async with temporary_system("clients", _log) as (system, market):
        return await drill_client_chaos(
            system, market, _log, rounds=options.rounds, seed=options.seed, is_planted=options.planted
        )


async def _overload(seconds: float) -> Report:
    async with temporary_system("overload", _log) as (system, market):
        return await drill_overload(system, market, seconds, _log)


async def _upgrade(options: argparse.Namespace, folder: Path) -> Report:
    if options.images is None:
        seeds = range(options.first, options.first + options.skew)
        return await drill_upgrade(folder, options.old, _log, skew=seeds)
    if options.from_images is None:
        raise BenchFailed("--images needs --from-images: the folder with images.txt of the old version")
    return await drill_upgrade_of_images(folder, options.from_images, options.images, _log)


async def _restore(options: argparse.Namespace, folder: Path) -> Report:
    with runtime_of(options.images) as runtime:
        return await drill_restore(folder, RestoreLoad(options.each, options.skew), _log, runtime)


if __name__ == "__main__":
    sys.exit(main())
