"""`python -m lab.growth`: sizes and times of a system after a year of 1,000 orders a day, by generated rows.

Permanent rows are those of `lab.audit_scale`; rows with a retention (decision 23) exist for its days only. The sizes of
the largest tables are printed, the times of lists for a buyer, a vendor and staff with the tables that they read
without an index, and those of the audit, a vacuum and a dump.
"""

import argparse
import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

from campus_tools.launcher import System
from campus_tools.servers.postgresql import find_binaries
from lab.audit_scale import fill, fill_gateway, measure
from lab.counts import one_or_more
from lab.systems import Log, logger, temporary_system
from operations.connecting import connected
from operations.journey import Marketplace
from operations.services import SERVICES

_TABLES_MAX: Final = 12
_LARGE_ROWS: Final = 50_000
_TRIES: Final = 5
# The statistics of a session are visible a second after its last statement.
_STATISTICS_SECONDS: Final = 3.0
_OWN_ORDERS: Final = 365
_ID: Final = "md5($2 || n || '/' || m)::uuid"
_ORDER: Final = "('0000a001-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"
_TEXT: Final = "repeat('Your order is on its way. ', 4)"
_ALL: Final = "generate_series(1, $1::bigint) AS n, generate_series(1, $3::bigint) AS m"
_PUBLISHED: Final = f"""
INSERT INTO outbox (id, type, source, subject, sequence, payload, trace, published_at)
SELECT {_ID}, 'orders.order_dispatched.v1', '/services/orders', {_ID}::text, 1, convert_to(repeat('x', 250), 'UTF8'),
    '{{}}', now() FROM {_ALL}
"""
_HANDLED: Final = f"INSERT INTO inbox (event_id, consumer) SELECT {_ID}, 'of events' FROM {_ALL}"
_NUMBERED: Final = f"INSERT INTO outbox_sequences (subject, last) SELECT {_ID}::text, 1 FROM {_ALL}"
_NOTIFICATION: Final = "md5('notification' || n || '/' || m)::uuid"
_DELIVERY: Final = "md5('delivery' || n || '/' || m)::uuid"
_USER: Final = "md5('buyer' || n % 100000)::uuid"

# Of each service: rows for an order, the days for which they are kept, and the statement that writes them.
_ROWS: Final[dict[str, tuple[tuple[int, int, str], ...]]] = {
    "orders": (
        (6, 365, f"""INSERT INTO order_history (order_id, event, status, occurred_at)
            SELECT {_ORDER}, 'paid', 'paid_escrow', now() FROM {_ALL} WHERE $2 <> ''"""),
        (5, 7, _PUBLISHED), (3, 28, _HANDLED), (2, 30, _NUMBERED),
    ),
    "payments": (
        (1, 90, f"""INSERT INTO processed_webhook_events (id, provider, event_type, payload, raw, outcome)
            SELECT {_ID}::text, 'paystack', 'charge.success', jsonb_build_object('data', repeat('x', 600)),
                convert_to(repeat('y', 600), 'UTF8'), 'done' FROM {_ALL}"""),
        (4, 7, _PUBLISHED), (3, 28, _HANDLED), (2, 30, _NUMBERED),
    ),
    "payouts": ((2, 7, _PUBLISHED), (2, 28, _HANDLED), (2, 30, _NUMBERED)),
    "notifications": (
        (1, 365, f"""INSERT INTO order_summaries (order_id, vendor_id, total_minor, delivery_fee_minor, items, buyer_id,
                number)
            SELECT {_ID}, {_ID}, 100000, 2000, jsonb_build_array(jsonb_build_object('name', 'Rice', 'quantity', 1)),
                {_USER}, 'CM-0000-0000' FROM {_ALL}"""),
        (6, 365, f"""INSERT INTO notifications (id, user_id, template, title, body, created_at, place, subject)
            SELECT {_NOTIFICATION}, {_USER}, 'order_dispatched', 'Order dispatched', {_TEXT}, now(), n * 6 + m,
                jsonb_build_object('kind', 'order', 'id', {_ORDER}, 'orderId', {_ORDER})
            FROM {_ALL} WHERE $2 <> ''"""),
        (6, 180, f"""INSERT INTO notification_deliveries (id, notification_id, channel, recipient, template, payload,
                sealed, status, attempts, provider_message_id, created_at)
            SELECT {_DELIVERY}, {_NOTIFICATION}, 'email', 'buyer' || n || '@unilag.edu.ng', 'order_dispatched',
                jsonb_build_object('orderId', {_ORDER}, 'orderNumber', 'CM-0000-0000'), '{{}}', 'sent', 1,
                md5(n || '/' || m), now() FROM {_ALL} WHERE $2 <> ''"""),
        (6, 180, f"""INSERT INTO notification_delivery_logs (id, delivery_id, notification_id, user_id, channel,
                template, recipient, status, provider, provider_message_id, attempted_at)
            SELECT {_ID}, {_DELIVERY}, {_NOTIFICATION}, {_USER}, 'email', 'order_dispatched', 'b***@unilag.edu.ng',
                'sent', 'mail', md5(n || '/' || m), now() FROM {_ALL}"""),
        (20, 7, _PUBLISHED), (7, 28, _HANDLED), (13, 30, _NUMBERED),
    ),
}  # fmt: skip
_ANALYZED: Final = """
SELECT c.relname AS name, greatest(c.reltuples, 0)::bigint AS rows, pg_total_relation_size(c.oid) AS bytes
FROM pg_class AS c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY bytes DESC
"""
_SCANNED: Final = "SELECT relname AS name, seq_scan AS scans FROM pg_stat_user_tables WHERE n_live_tup > $1"
# Of a buyer and a vendor of the demo data, so that their lists are as long as those of the busiest.
_OWN: Final[dict[str, tuple[str, ...]]] = {
    "orders": tuple(
        f"UPDATE {table} SET buyer_id = $1, vendor_id = $2 WHERE {key} IN (SELECT {_ORDER} FROM numbers)"
        for table, key in (("orders", "id"), ("order_items", "order_id"))
    ),
    "notifications": (
        "UPDATE notifications SET user_id = $1 "
        "WHERE id IN (SELECT md5('notification' || n || '/1')::uuid FROM numbers) AND $2::uuid IS NOT NULL",
    ),
}
_LISTS: Final = (
    ("buyer", "/api/orders"),
    ("buyer", "/api/notifications"),
    ("buyer", "/api/products"),
    ("vendor", "/api/orders?as=vendor"),
    ("vendor", "/api/wallets/current/statement"),
    ("vendor", "/api/payouts"),
    ("finance", "/api/payouts"),
    ("finance", "/api/ledger/trial-balance"),
    ("finance", "/api/ledger/accounts"),
    ("support", "/api/orders"),
    ("support", "/api/notification-delivery-logs"),
    ("support", "/api/refunds"),
)


def _address(system: System, service: str) -> str:
    database = next(it.database for it in SERVICES if it.name == service)
    return system.secrets["DATABASE_URL"].rsplit("/", 1)[0] + f"/{database}"


@asynccontextmanager
async def _connected(system: System, service: str) -> Any:
    async with connected(_address(system, service), command_seconds_max=3600) as connection:
        # Without triggers and foreign keys: the rows are consistent.
        await connection.execute("SET session_replication_role = replica")
        yield connection


@contextmanager
def _timed(log: Log, text: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    print(f"{text}: {time.monotonic() - started:.1f} s", flush=True)
    log(text)


async def fill_temporary(system: System, days: int, orders_a_day: int) -> None:
    """Insert the rows with a retention of the last days."""
    for service, kinds in _ROWS.items():
        async with _connected(system, service) as connection:
            for rows, kept_days, statement in kinds:
                orders = min(days, kept_days) * orders_a_day
                await connection.execute(statement, orders, service, rows)


async def give_to_demo_users(system: System, buyer_id: str, vendor_id: str) -> None:
    """Make a buyer and a vendor of the demo data the parties of a year of orders of one of each."""
    for service, statements in _OWN.items():
        async with _connected(system, service) as connection:
            for statement in statements:
                numbers = f"WITH numbers AS (SELECT generate_series(1, {_OWN_ORDERS}) AS n) "
                await connection.execute(numbers + statement, buyer_id, vendor_id)


async def print_sizes(system: System) -> None:
    """Print the largest tables of all databases, with their indexes, and the sum."""
    rows = []
    for service in SERVICES:
        async with _connected(system, service.name) as connection:
            rows += [(f"{service.name}.{row['name']}", row) for row in await connection.fetch(_ANALYZED)]
    rows.sort(key=lambda row: -row[1]["bytes"])
    for name, row in rows[:_TABLES_MAX]:
        print(f"| {name} | {row['rows']:,} | {row['bytes'] / 1e6:,.0f} |")
    print(f"| all | | {sum(row['bytes'] for _, row in rows) / 1e6:,.0f} |", flush=True)


async def _scans(system: System) -> dict[str, int]:
    found = {}
    for service in SERVICES:
        async with _connected(system, service.name) as connection:
            for row in await connection.fetch(_SCANNED, _LARGE_ROWS):
                found[f"{service.name}.{row['name']}"] = row["scans"]
    return found


async def time_lists(system: System, market: Marketplace) -> None:
    """Print the best and the worst time of each list, and the large tables that it read without an index."""
    users = {
        "buyer": await market.sign_in("buyer@unilag.edu.ng"),
        "vendor": await market.sign_in("vendor@unilag.edu.ng"),
        "finance": await market.sign_in_with_two_factors("maker@campus.example", "MAKER"),
        "support": await market.sign_in_with_two_factors("support@campus.example", "SUPPORT"),
    }
    buyer_id = (await market.get("/api/profiles/current", users["buyer"]))["id"]
    [product, *_] = await market.products()
    await give_to_demo_users(system, buyer_id, product["vendorId"])
    for role, path in _LISTS:
        before, times = await _scans(system), []
        for _ in range(_TRIES):
            started = time.perf_counter()
            response = await market.http.get(path, headers=users[role].headers)
            times.append(1000 * (time.perf_counter() - started))
        await asyncio.sleep(_STATISTICS_SECONDS)
        after = await _scans(system)
        scanned = sorted(name for name, scans in after.items() if scans > before.get(name, scans))
        print(
            f"| {role} | `GET {path}` | {response.status_code} | {min(times):.0f} | {max(times):.0f} "
            f"| {', '.join(scanned)} |",
            flush=True,
        )


def dump(system: System, folder: Path, log: Log) -> int:
    """Write a dump of each database, and return the bytes of all."""
    program = str(find_binaries(log) / "pg_dump")
    for service in SERVICES:
        file = folder / service.name
        subprocess.run([program, "-Fc", "-Z1", "-f", str(file), _address(system, service.name)], check=True)
    return sum(file.stat().st_size for file in folder.iterdir())


async def run(days: int, orders_a_day: int) -> int:
    log, orders = logger("growth"), days * orders_a_day
    async with temporary_system("growth", log) as (system, market):
        with _timed(log, f"Insertion of {days} days of {orders_a_day:,} orders, with VACUUM ANALYZE"):
            held_minor = await fill(system, orders)
            fill_gateway(Path(system.state_dir) / "sandbox" / "sandbox.db", orders, held_minor)
            await fill_temporary(system, days, orders_a_day)
        with _timed(log, "VACUUM ANALYZE of all databases"):
            for service in SERVICES:
                async with _connected(system, service.name) as connection:
                    await connection.execute("VACUUM ANALYZE")
        await print_sizes(system)
        with tempfile.TemporaryDirectory(prefix="campus-growth-dump-") as folder, _timed(log, "Dump of all databases"):
            size = await asyncio.to_thread(dump, system, Path(folder), log)
            print(f"Dump: {size / 1e6:,.0f} MB")
        report, seconds, cpu_seconds, peak_mib = await asyncio.to_thread(measure, system, None)
        print(f"Audit: {report['verdict']}, {seconds:.0f} s, {cpu_seconds:.0f} s of processor time, {peak_mib:.0f} MiB")
        # Last: it changes the parties of orders, which the audit compares.
        await time_lists(system, market)
    return 0 if report["verdict"] == "clean" else 1


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--days", type=one_or_more, default=365)
    arguments.add_argument("--orders-a-day", type=one_or_more, default=1_000)
    options = arguments.parse_args()
    os.nice(5)
    raise SystemExit(asyncio.run(run(options.days, options.orders_a_day)))


if __name__ == "__main__":
    main()
