"""Consistent rows of many orders, and the time and memory of an audit of them; `lab.growth` uses both.

Each order is charged, and released, refunded or held; each tenth pays its vendor out.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from campus_tools.launcher import System
from common.ledger.hash_chain import FIRST_LINK, link_of
from operations.connecting import connected

VENDORS: Final = 1_000
CHARGE_FEE_MINOR: Final = 2_000
TRANSFER_FEE_MINOR: Final = 1_000
# Of 100 orders: one refunded, ten held, the others released. Each tenth order, released, pays its vendor out.
_REFUNDED: Final = "n % 100 = 5"
_HELD: Final = "n % 10 = 0"
_RELEASED: Final = "NOT (n % 100 = 5 OR n % 10 = 0)"
_PAID_OUT: Final = "n % 10 = 1"
_TOTAL: Final = "(100000 + n % 5000)"
_SHARE: Final = f"({_TOTAL} - 7000)"
_AT: Final = "now() - interval '2 days' + n * interval '1 millisecond'"
_BATCH: Final = 20_000


def _id(kind: str, number: str = "n") -> str:
    """Return the SQL of the id of this kind with a number, as `_uuid` writes it."""
    return f"('{kind}-0000-7000-8000-' || lpad(to_hex({number}), 12, '0'))::uuid"


_ORDER, _CHARGE, _ATTEMPT, _RELEASE = _id("0000a001"), _id("0000a002"), _id("0000a003"), _id("0000a004")
_REFUND, _PAYOUT, _TRANSFER, _ITEM = _id("0000a005"), _id("0000a006"), _id("0000a007"), _id("0000a008")
_BUYER, _VENDOR = _id("0000a009", "n % 100000"), _id("0000a00a", f"n % {VENDORS}")
_IDENTITY: Final = "('scale-' || n || '/' || n)"
_ALL: Final = "generate_series(1, $1::bigint) AS n"

_ORDERS: Final = (
    f"""INSERT INTO orders (id, number, buyer_id, vendor_id, campus_id, status, currency, total_amount, subtotal_minor,
        delivery_fee_minor, commission_minor, refunded_minor, payment_due_at, idempotency_key, fingerprint, revision,
        created_at, updated_at, escrow_minor)
    SELECT {_ORDER}, 'CM-' || substr(lpad(upper(to_hex(n)), 8, '0'), 1, 4) || '-'
        || right(lpad(upper(to_hex(n)), 8, '0'), 4),
        {_BUYER}, {_VENDOR}, {_id("0000a00b", "1")}, CASE WHEN {_REFUNDED} THEN 'refunded' WHEN {_HELD}
            THEN 'paid_escrow'
        ELSE 'paid' END, 'NGN', {_TOTAL}, {_TOTAL} - 2000, 2000, 5000, CASE WHEN {_REFUNDED} THEN {_TOTAL} ELSE 0 END,
        {_AT}, {_ORDER}, '\\x00', 1, {_AT}, {_AT}, CASE WHEN {_HELD} THEN {_TOTAL} ELSE 0 END FROM {_ALL}""",
    f"""INSERT INTO order_items (id, order_id, buyer_id, vendor_id, campus_id, position, product_id, name, quantity,
        unit_price_minor, line_total_minor)
    SELECT {_ITEM}, {_ORDER}, {_BUYER}, {_VENDOR}, {_id("0000a00b", "1")}, 1, {_ITEM}, 'Rice', 1, {_TOTAL} - 2000,
        {_TOTAL} - 2000
    FROM {_ALL}""",
    f"""INSERT INTO sale_lines (item_id, order_id, product_id, vendor_id, campus_id, category, name, quantity, sold_at,
        sequence, gross_minor, locked_minor, refunded_minor, delivery_fee_minor, commission_minor, net_minor)
    SELECT {_ITEM}, {_ORDER}, {_ITEM}, {_VENDOR}, {_id("0000a00b", "1")}, 'meals', 'Rice', 1, {_AT}, 1, {_TOTAL},
        CASE WHEN {_HELD} THEN {_TOTAL} ELSE 0 END, CASE WHEN {_REFUNDED} THEN {_TOTAL} ELSE 0 END,
        CASE WHEN {_RELEASED} THEN 2000 ELSE 0 END, CASE WHEN {_RELEASED} THEN 5000 ELSE 0 END,
        CASE WHEN {_RELEASED} THEN {_SHARE} ELSE 0 END FROM {_ALL}""",
    f"""INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at)
    SELECT {_REFUND}, {_ORDER}, {_TOTAL}, 'returned', 'settled', true, {_AT} FROM {_ALL} WHERE {_REFUNDED}""",
)


def _postings(service: str, *postings: tuple[str, str, str, str, tuple[tuple[str, str], ...]]) -> tuple[str, ...]:
    """Statements for transactions: kind of the id, type, posting key, condition, and entries of account and amount."""
    statements = []
    for kind, type_, key, condition, entries in postings:
        statements.append(
            f"""INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash, created_at)
            SELECT {_id(kind)}, '{type_}', {key}, 'NGN', '\\x00', {_AT} FROM {_ALL} WHERE {condition} ORDER BY n"""
        )
        for account, amount in entries:
            statements.append(
                f"""INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency)
                SELECT {_id(kind)}, {account}, {amount}, 'NGN' FROM {_ALL} WHERE {condition}"""
            )
    debits = "'gateway_cash', 'gateway_fees', 'transfer_fees', 'escrow_released'"
    guarded = "split_part(account, ':', 1) IN ('escrow', 'vendor_payable', 'refund_payable', 'wallet', 'in_transit')"
    return (
        *statements,
        f"""INSERT INTO ledger_balances (account, currency, side, balance_minor)
        SELECT account, 'NGN', CASE WHEN account IN ({debits}) THEN 'debit' ELSE 'credit' END, -sum(amount_minor)
        FROM ledger_entries WHERE {guarded} GROUP BY account ON CONFLICT DO NOTHING""",
        """INSERT INTO ledger_accounts (account, currency, opened_at)
        SELECT DISTINCT account, 'NGN', now() FROM ledger_entries ON CONFLICT DO NOTHING""",
    )


_PAYMENTS: Final = (
    f"""INSERT INTO payable_orders (id, buyer_id, vendor_id, total_minor, commission_minor, delivery_fee_minor,
        currency, status, payment_due_at, heard_at)
    SELECT {_ORDER}, {_BUYER}, {_VENDOR}, {_TOTAL}, 5000, 2000, 'NGN', 'paid_escrow', {_AT}, {_AT} FROM {_ALL}""",
    f"""INSERT INTO charges (id, identity, reference, gateway_id, webhook_id, order_id, amount_minor, currency, channel,
        verdict, settled_at)
    SELECT {_CHARGE}, {_IDENTITY}, 'scale-' || n, n::text, 'charge.success:' || n, {_ORDER}, {_TOTAL}, 'NGN', 'card',
        'covered', {_AT} FROM {_ALL}""",
    f"""INSERT INTO escrows (order_id, buyer_id, vendor_id, charge_id, held_minor, locked_vendor_minor,
        locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor, released_commission_minor,
        released_delivery_fee_minor, refunded_minor, dispute_sequence, held_at)
    SELECT {_ORDER}, {_BUYER}, {_VENDOR}, {_CHARGE}, {_TOTAL}, CASE WHEN {_HELD} THEN {_SHARE} ELSE 0 END,
        CASE WHEN {_HELD} THEN 5000 ELSE 0 END, CASE WHEN {_HELD} THEN 2000 ELSE 0 END,
        CASE WHEN {_RELEASED} THEN {_SHARE} ELSE 0 END, CASE WHEN {_RELEASED} THEN 5000 ELSE 0 END,
        CASE WHEN {_RELEASED} THEN 2000 ELSE 0 END, CASE WHEN {_REFUNDED} THEN {_TOTAL} ELSE 0 END, 0, {_AT}
        FROM {_ALL}""",
    f"""INSERT INTO releases (id, order_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, cause,
        released_at)
    SELECT {_RELEASE}, {_ORDER}, {_TOTAL}, 5000, 2000, {_SHARE}, 'delivery', {_AT} FROM {_ALL} WHERE {_RELEASED}""",
    f"""INSERT INTO refunds (id, kind, charge_id, order_id, buyer_id, amount_minor, currency, status, reason,
        gateway_refund_id, created_at, settled_at, attempt_id)
    SELECT {_REFUND}, 'order', {_CHARGE}, {_ORDER}, {_BUYER}, {_TOTAL}, 'NGN', 'settled', 'returned', n::text, {_AT},
        {_AT}, {_ATTEMPT}
    FROM {_ALL} WHERE {_REFUNDED}""",
    *_postings(
        "payments",
        (
            "0000b001", "charge", f"'charge:' || {_IDENTITY}", "true",
            (("'gateway_cash'", _TOTAL), (f"'escrow:' || {_ORDER}", f"-{_TOTAL}")),
        ),
        (
            "0000b002", "gateway_fee", f"'gateway_fee:' || {_IDENTITY}", "true",
            (("'gateway_fees'", str(CHARGE_FEE_MINOR)), ("'gateway_cash'", str(-CHARGE_FEE_MINOR))),
        ),
        (
            "0000b003", "release", f"'release:' || {_RELEASE}", _RELEASED,
            (
                (f"'escrow:' || {_ORDER}", _TOTAL), (f"'vendor_payable:' || {_VENDOR}", f"-{_SHARE}"),
                ("'commission'", "-5000"), ("'delivery_fee'", "-2000"),
            ),
        ),
        (
            "0000b004", "refund", f"{_REFUND}::text", _REFUNDED,
            ((f"'escrow:' || {_ORDER}", _TOTAL), (f"'refund_payable:' || {_REFUND}", f"-{_TOTAL}")),
        ),
        (
            "0000b005", "refund_settled", f"'refund_settled:' || {_ATTEMPT}", _REFUNDED,
            ((f"'refund_payable:' || {_REFUND}", _TOTAL), ("'gateway_cash'", f"-{_TOTAL}")),
        ),
    ),
)  # fmt: skip
_PAYOUTS: Final = (
    f"""INSERT INTO order_shares (order_id, vendor_id, remaining_vendor_minor, sequence)
    SELECT {_ORDER}, {_VENDOR}, CASE WHEN {_HELD} THEN {_SHARE} ELSE 0 END, 1 FROM {_ALL}""",
    f"""INSERT INTO payout_requests (id, vendor_id, amount, currency, status, bank_details_version_id, requested_by,
        created_at, updated_at, processed_at)
    SELECT {_PAYOUT}, {_VENDOR}, {_SHARE}, 'NGN', 'processed', {_PAYOUT}, {_VENDOR}, {_AT}, {_AT}, {_AT} FROM {_ALL}
    WHERE {_PAID_OUT}""",
    f"""INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency,
        bank_details_version_id, created_at, updated_at, fee)
    SELECT {_TRANSFER}, {_PAYOUT}, {_VENDOR}, 1, 'po-' || replace({_TRANSFER}::text, '-', ''), 'success', {_SHARE},
        'NGN', {_PAYOUT}, {_AT}, {_AT}, {TRANSFER_FEE_MINOR} FROM {_ALL} WHERE {_PAID_OUT}""",
    f"""INSERT INTO wallet_lines (id, vendor_id, kind, source_key, order_id, payout_id, net_minor, balance_minor, at)
    SELECT {_id("0000a00c", "n * 2 + line")}, {_VENDOR}, kind, key, {_ORDER}, payout_id, net,
        sum(net) OVER (PARTITION BY n % {VENDORS} ORDER BY n, line), {_AT}
    FROM (SELECT n, 0 AS line, 'release' AS kind, 'release:' || {_RELEASE} AS key, NULL::uuid AS payout_id,
        {_SHARE} AS net
          FROM {_ALL} WHERE {_RELEASED}
          UNION ALL SELECT n, 1, 'payout', 'payout:' || {_PAYOUT}, {_PAYOUT}, -{_SHARE} FROM {_ALL}
          WHERE {_PAID_OUT}) AS lines
    ORDER BY n, line""",
    *_postings(
        "payouts",
        (
            "0000c001", "release", f"'release:' || {_RELEASE}", _RELEASED,
            (("'escrow_released'", _SHARE), (f"'wallet:' || {_VENDOR}", f"-{_SHARE}")),
        ),
        (
            "0000c002", "payout", f"'payout:' || {_PAYOUT}", _PAID_OUT,
            ((f"'wallet:' || {_VENDOR}", _SHARE), (f"'in_transit:' || {_PAYOUT}", f"-{_SHARE}")),
        ),
        (
            "0000c003", "payout_processed", f"'payout_processed:' || {_PAYOUT}", _PAID_OUT,
            ((f"'in_transit:' || {_PAYOUT}", _SHARE), ("'gateway_cash'", f"-{_SHARE}")),
        ),
        (
            "0000c004", "transfer_fee", f"'transfer_fee:' || {_TRANSFER}", _PAID_OUT,
            (("'transfer_fees'", str(TRANSFER_FEE_MINOR)), ("'gateway_cash'", str(-TRANSFER_FEE_MINOR))),
        ),
    ),
)  # fmt: skip
_UNLINKED: Final = """
SELECT t.id, t.position, t.type, t.posting_key, t.currency, t.created_at, e.entries
FROM ledger_transactions t JOIN (
    SELECT transaction_id, json_agg(json_build_array(account, amount_minor, currency))::text AS entries
    FROM ledger_entries GROUP BY transaction_id
) AS e ON e.transaction_id = t.id ORDER BY t.position
"""


async def fill(system: System, orders: int) -> int:
    """Insert the rows of this many orders, and return the money that the gateway holds of them in kobo."""
    held_minor = 0
    for service, statements in (("orders", _ORDERS), ("payments", _PAYMENTS), ("payouts", _PAYOUTS)):
        address = system.secrets["DATABASE_URL"].rsplit("/", 1)[0] + f"/campus_{service}"
        async with connected(address, command_seconds_max=3600) as connection:
            # Without triggers: the rows are consistent, and the chain is written below.
            await connection.execute("SET session_replication_role = replica")
            for statement in statements:
                await connection.execute(statement, *((orders,) if "$1" in statement else ()))
            if service != "orders":
                await _write_chain(connection)
                held_minor += await connection.fetchval(
                    "SELECT sum(amount_minor)::bigint FROM ledger_entries WHERE account = 'gateway_cash'"
                )
            await connection.execute("VACUUM ANALYZE")
    return held_minor


async def _write_chain(connection: Any) -> None:
    """Write the links of all transactions; the ledger was empty before."""
    link, length = FIRST_LINK, 0
    links: list[tuple[int, Any, bytes]] = []
    async with connection.transaction():
        async for row in connection.cursor(_UNLINKED, prefetch=_BATCH):
            length += 1
            link = link_of(link, row, msgspec.json.decode(row["entries"]))
            links.append((length, row["id"], link))
            if len(links) == _BATCH:
                await _copy_links(connection, links)
                links = []
        await _copy_links(connection, links)
        await connection.execute("UPDATE ledger_chain SET length = $1, head = $2", length, link)


async def _copy_links(connection: Any, links: list[tuple[int, Any, bytes]]) -> None:
    await connection.copy_records_to_table(
        "ledger_links", records=links, columns=["sequence", "transaction_id", "link"]
    )


def fill_gateway(file: Path, orders: int, held_minor: int) -> None:
    """Insert the same transactions, refunds and transfers into the sandbox's database, and the balance."""
    at = "2026-01-01T00:00:00.000Z"
    connection = sqlite3.connect(file, timeout=60)
    try:
        connection.execute(
            "INSERT INTO customers (id, email, customer_code) VALUES (1, 'scale@campus.example', 'CUS_1')"
        )
        connection.execute("INSERT INTO recipients VALUES (1, 'RCP_1', 'Scale', '0000000000', '044', 'NGN', ?)", (at,))
        numbers = "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)"
        total, share = _TOTAL, _SHARE
        reference = "'po-0000a007000070008000' || printf('%012x', n)"
        for statement in (
            f"""INSERT INTO transactions (id, reference, access_code, customer_id, requested_minor, requested_currency,
                amount_minor, currency, status, gateway_response, channel, channels, metadata, created_at, paid_at,
                fees_minor)
            {numbers} SELECT n, 'scale-' || n, 'scale-' || n, 1, {total}, 'NGN', {total}, 'NGN', 'success',
            'Successful', 'card',
                '[]', '{{}}', '{at}', '{at}', {CHARGE_FEE_MINOR} FROM numbers""",
            f"""INSERT INTO refunds (id, refund_reference, transaction_id, amount_minor, currency, status,
                merchant_note, customer_note, created_at, updated_at)
            {numbers} SELECT n, 'TRF_' || n, n, {total}, 'NGN', 'processed',
            're-0000a003000070008000' || printf('%012x', n), '',
                '{at}', '{at}' FROM numbers WHERE {_REFUNDED}""",
            f"""INSERT INTO transfers (id, transfer_code, reference, recipient_id, amount_minor, currency, reason,
                status, planned, created_at, updated_at)
            {numbers} SELECT n, 'TRF_' || n, {reference}, 1, {share}, 'NGN', '', 'success', 'success', '{at}', '{at}'
                FROM numbers WHERE {_PAID_OUT}""",
            f"""INSERT INTO movements (kind, reference, amount_minor, currency, balance_after, created_at)
            {numbers} SELECT 'transfer_fee', {reference}, -{TRANSFER_FEE_MINOR}, 'NGN', 0, '{at}' FROM numbers
            WHERE {_PAID_OUT}""",
        ):
            connection.execute(statement, (orders,))
        connection.execute(
            "INSERT INTO movements (kind, reference, amount_minor, currency, balance_after, created_at)"
            " VALUES ('charge', 'scale', ?, 'NGN', ?, ?)",
            (held_minor, held_minor, at),
        )
        connection.commit()
    finally:
        connection.close()


def measure(system: System, source: Path | None) -> tuple[dict[str, Any], float, float, float]:
    """Audit as a process of its own. Return the report, seconds, processor seconds and peak memory in MiB."""
    environment = {**os.environ, "STATE_DIR": str(system.state_dir), "PORT_BASE": str(system.port_base)}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    started = time.monotonic()
    command = [sys.executable, "-m", "operations.audit", "--json", "--settle-seconds", "0"]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env=environment, stdout=output)
        # The usage of this process alone: the launcher's own children count in RUSAGE_CHILDREN.
        _, _, usage = os.wait4(process.pid, 0)
        output.seek(0)
        report = json.load(output)
    return report, time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
