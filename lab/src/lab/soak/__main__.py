"""Long runs that end with the audit, and with status 1 when a promise did not hold.

`webhooks` sends signed webhooks at a rate while payments' worker is killed.
`payouts` dispatches payouts; some gateway calls time out or fail after the money has moved.
`notifications` sends messages over four channels; one channel has an outage, the worker is killed.
`broker` sends messages through delay queues and the dead letter queue, and measures the broker's disk.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import ServerPorts
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from lab.counts import one_or_more
from lab.report import Report, exit_code_of
from lab.soak.broker import BrokerLoad, soak_broker
from lab.soak.notifications import DOWN_CHANNELS, MessageLoad, soak_messages
from lab.soak.payouts import PayoutLoad, soak_payouts
from lab.soak.webhooks import Load, soak_webhooks
from lab.systems import logger, temporary_system

_log = logger("soak")
# The objective of the intake at the specified rate: 99 of 100 responses within this time.
P99_MS_MAX = 100.0
# The number of webhooks of the specification.
WEBHOOKS = 10_000


def main() -> int:
    options = _parser().parse_args()
    return exit_code_of(options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lab.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="what", required=True)
    webhooks = kinds.add_parser("webhooks", help="webhooks at a rate, with killed workers")
    webhooks.add_argument("--count", type=one_or_more, default=WEBHOOKS, help="webhooks in total")
    webhooks.add_argument("--rate", type=float, default=100.0, help="webhooks per second")
    webhooks.add_argument("--kills", type=int, default=10, help="kills of payments' worker")
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
    broker = kinds.add_parser("broker", help="messages through the delay and dead letter queues: the broker's disk")
    broker.add_argument("--count", type=one_or_more, default=1_000_000, help="messages in total")
    help_text = "AMQP and management address and data directory of a running broker; by default a private one"
    broker.add_argument("--broker", nargs=3, metavar=("URL", "MANAGEMENT", "FOLDER"), help=help_text)
    broker.set_defaults(run=_broker)
    return parser


async def _webhooks(options: argparse.Namespace) -> Report:
    async with temporary_system("soak", _log) as (system, market):
        return await soak_webhooks(system, market, Load(options.count, options.rate, options.kills, P99_MS_MAX), _log)


async def _payouts(options: argparse.Namespace) -> Report:
    load = PayoutLoad(options.count, options.timeouts, options.errors)
    async with temporary_system("soak", _log, {"GATEWAY_TIMEOUT_SECONDS": "5"}) as (system, market):
        return await soak_payouts(system, market, load, _log)


async def _notifications(options: argparse.Namespace) -> Report:
    load = MessageLoad(options.count, options.rate, options.down, options.down_seconds, options.kills, options.how)
    async with temporary_system("soak", _log) as (system, market):
        return await soak_messages(system, market, load, _log)


async def _broker(options: argparse.Namespace) -> Report:
    if options.broker:
        url, management_url, data = options.broker
        return await soak_broker(BrokerLoad(options.count, url, management_url, Path(data)), _log)
    with tempfile.TemporaryDirectory(prefix="campus-soak-", ignore_cleanup_errors=True) as folder:
        ports = ServerPorts.above(free_port_base())
        server = PrivateRabbitmq(Path(folder), ports, report=_log, settings="raft.wal_max_size_bytes = 4194304\n")
        # Not 32 dead letters on their way at once: on a busy machine a million would take a day. Segments are written
        # when the write-ahead log is full: a small one lets a short run write many.
        settings = Path(folder) / "servers/rabbitmq/advanced.config"
        settings.parent.mkdir(parents=True)
        settings.write_text("[{rabbit, [{dead_letter_worker_consumer_prefetch, 2000}]}].\n")
        await asyncio.to_thread(server.start)
        try:
            load = BrokerLoad(options.count, server.url, server.management_url, Path(folder))
            return await soak_broker(load, _log)
        finally:
            await asyncio.to_thread(server.stop)


if __name__ == "__main__":
    sys.exit(main())
