"""Long runs that end with the audit, and with status 1 when an invariant was violated.

`webhooks` starts a separate system and sends signed webhooks at a rate while payments' worker is killed, or, with
`--read-only` and `--broker-away`, while the database rejects writes and the broker is unavailable.
`payouts` starts a separate system and dispatches payouts; some gateway calls time out or fail after the money has
moved.
`notifications` starts a separate system and sends messages over four channels; one channel has an outage, the worker is
killed.
"""

import argparse
import asyncio
import sys

import httpx
from rich.console import Console
from rich.table import Table

from campus_tools.launcher import StartFailed
from campus_tools.servers import ServerUnavailable
from lab.bench.programs import BenchFailed
from lab.counts import one_or_more
from lab.soak.notifications import DOWN_CHANNELS, MessageFigures, MessageLoad, soak_messages
from lab.soak.outages import OutageFigures, Outages, count_outlasting, soak_outages
from lab.soak.payouts import PayoutFigures, PayoutLoad, soak_payouts
from lab.soak.webhooks import Figures, Load, soak_webhooks
from lab.systems import logger, temporary_system
from operations.journey import StepFailed

_log = logger("soak")
# The objective of the intake at the specified rate: 99 of 100 responses within this time.
P99_MS_MAX = 100.0
# The number of webhooks of the specification.
WEBHOOKS = 10_000
_STOPPED = (BenchFailed, StartFailed, ServerUnavailable, StepFailed, TimeoutError, OSError, httpx.TransportError)


def main() -> int:
    options = _parser().parse_args()
    try:
        holds: bool = asyncio.run(options.run(options))
    except _STOPPED as error:
        sys.stderr.write(f"{error or type(error).__name__}\n")
        return 1
    return 0 if holds else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lab.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="what", required=True)
    webhooks = kinds.add_parser("webhooks", help="webhooks at a rate, with killed workers or outages")
    webhooks.add_argument(
        "--count", type=one_or_more, help="webhooks in total (default: 10,000, or enough for the outages)"
    )
    webhooks.add_argument("--rate", type=float, default=100.0, help="webhooks per second")
    webhooks.add_argument("--kills", type=int, default=10, help="kills of payments' worker")
    webhooks.add_argument(
        "--read-only", type=float, default=0.0, metavar="SECONDS", help="outage of database writes, instead of kills"
    )
    webhooks.add_argument(
        "--broker-away", type=float, default=0.0, metavar="SECONDS", help="outage of the broker, after that"
    )
    webhooks.set_defaults(run=_webhooks)
    payouts = kinds.add_parser("payouts", help="payouts with failing gateway calls")
    payouts.add_argument("--count", type=one_or_more, default=1_000, help="payouts in total")
    payouts.add_argument("--timeouts", type=float, default=5.0, metavar="PERCENT", help="transfers without a response")
    payouts.add_argument("--errors", type=float, default=2.0, metavar="PERCENT", help="errors after acceptance")
    payouts.set_defaults(run=_payouts)
    messages = kinds.add_parser("notifications", help="messages with an outage of one channel and killed workers")
    messages.add_argument("--count", type=one_or_more, default=10_000, help="messages in total")
    messages.add_argument("--rate", type=float, default=50.0, help="messages per second")
    messages.add_argument("--down", choices=DOWN_CHANNELS, default="sms", help="the channel with the outage")
    messages.add_argument("--down-seconds", type=float, default=60.0, metavar="SECONDS", help="length of the outage")
    messages.add_argument("--how", choices=("refusing", "hanging"), default="hanging", help="behaviour of its provider")
    messages.add_argument("--kills", type=int, default=3, help="kills of the worker")
    messages.set_defaults(run=_notifications)
    return parser


async def _webhooks(options: argparse.Namespace) -> bool:
    outages = Outages(options.read_only, options.broker_away)
    outlasting = count_outlasting(outages, options.rate) if outages.seconds else 1
    load = Load(options.count or max(WEBHOOKS, outlasting), options.rate, options.kills)
    if load.count < outlasting:
        raise BenchFailed(
            f"{load.count} webhooks are sent before the outages end: set --count to at least {outlasting}"
        )
    async with temporary_system("soak", _log) as (system, market):
        if outages.seconds:
            return _show_outages(await soak_outages(system, market, load, outages, _log))
        return _show(await soak_webhooks(system, market, load, _log))


async def _payouts(options: argparse.Namespace) -> bool:
    load = PayoutLoad(options.count, options.timeouts, options.errors)
    async with temporary_system("soak", _log, {"GATEWAY_TIMEOUT_SECONDS": "5"}) as (system, market):
        return _show_payouts(await soak_payouts(system, market, load, _log))


async def _notifications(options: argparse.Namespace) -> bool:
    load = MessageLoad(options.count, options.rate, options.down, options.down_seconds, options.kills, options.how)
    async with temporary_system("soak", _log) as (system, market):
        return _show_messages(await soak_messages(system, market, load, _log))


def _show(figures: Figures) -> bool:
    table = Table("what", "seen")
    table.add_row("webhooks answered 200", str(figures.sent))
    table.add_row("duplicates; webhooks before their subject", f"{figures.duplicates}, {figures.early}")
    table.add_row(
        "response time, median / 99th / longest",
        f"{figures.p50_ms:.1f} / {figures.p99_ms:.1f} / {figures.longest_ms:.1f} ms",
    )
    table.add_row("payments' worker killed", f"{figures.kills} times")
    table.add_row("last effect after the last webhook", f"{figures.effects_seconds:.1f} s")
    table.add_row("violated invariants of the audit", "\n".join(figures.broken_invariants) or "none")
    Console(width=150).print(table)
    return figures.holds and figures.p99_ms <= P99_MS_MAX


def _show_outages(figures: OutageFigures) -> bool:
    table = Table("what", "read-only", "broker unavailable", "otherwise")
    for name in ("200", "503", "another"):
        table.add_row(f"answered {name}", *(str(stretch.get(name, 0)) for stretch in figures.stretches))
    Console(width=150).print(table)
    table = Table("what", "seen")
    table.add_row("answered 503 and yet stored", str(figures.kept_though_refused))
    table.add_row("from the end of read-only to the last 503", f"{figures.recovered_seconds:.1f} s")
    table.add_row("last effect after the last webhook", f"{figures.effects_seconds:.1f} s")
    table.add_row("violated invariants of the audit", "\n".join(figures.broken_invariants) or "none")
    Console(width=150).print(table)
    return figures.holds


def _show_payouts(figures: PayoutFigures) -> bool:
    table = Table("what", "seen")
    table.add_row("payouts, in batches", f"{figures.count}, {figures.batches}")
    table.add_row("calls without a response, errors after acceptance", f"{figures.timeouts}, {figures.errors}")
    table.add_row("longest dispatch", f"{figures.longest_batch_seconds:.1f} s")
    table.add_row("unknown after the dispatch", str(figures.unknown_after_dispatch))
    table.add_row("all settled after the last dispatch", f"{figures.settled_seconds:.1f} s")
    table.add_row("statuses", ", ".join(f"{count} {status}" for status, count in sorted(figures.statuses.items())))
    table.add_row(
        "transfers at the sandbox: once, twice, not requested",
        f"{figures.moved}, {figures.moved_twice}, {figures.unrequested}",
    )
    table.add_row("violated invariants of the audit", "\n".join(figures.broken_invariants) or "none")
    Console(width=150).print(table)
    return figures.holds


def _show_messages(figures: MessageFigures) -> bool:
    table = Table(
        "channel",
        "accepted",
        "arrived",
        "uncertain, missing",
        "twice (replaced, unexplained)",
        "late, p50 / p99",
        "while one was down",
        "while killed",
    )
    for name, line in figures.channels.items():
        table.add_row(
            name,
            str(line.accepted),
            str(line.arrived),
            f"{line.uncertain}, {line.missing}",
            f"{line.twice} ({line.replaced}, {line.unexplained})",
            str(line.quiet),
            str(line.down),
            str(line.killed),
        )
    Console(width=150).print(table)
    table = Table("what", "seen")
    table.add_row("not accepted", str(figures.refused))
    table.add_row("worker killed", f"{figures.kills} times")
    table.add_row("failed, resent by support", f"{figures.given_up}, {figures.resent}")
    table.add_row("from the first message to the last result", f"{figures.arrived_seconds:.1f} s")
    table.add_row("processor time of the worker", f"{figures.worker_cpu_seconds:.1f} s")
    table.add_row("statuses", ", ".join(f"{count} {status}" for status, count in sorted(figures.statuses.items())))
    Console(width=150).print(table)
    return figures.holds


if __name__ == "__main__":
    sys.exit(main())
