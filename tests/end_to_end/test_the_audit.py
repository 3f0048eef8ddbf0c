"""The audit detects differences between the services that are made by hand; the tampering is undone."""

from contextlib import AsyncExitStack
from functools import partial
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.audit.__main__ import run
from operations.audit.comparisons import COMPARISONS
from operations.audit.gateway import Gateway
from operations.audit.invariants import INVARIANTS
from operations.audit.statement import statement_of
from operations.journey import Marketplace
from testkit.fixtures import eventually
from tests.end_to_end.steps import delivered_order, paid_order

from .conftest import Users

# Whose database is tampered with, the statement, and its word by which the audit must name what it did: None where only
# sums can be compared.
COMPARED = {
    "escrow equals the orders whose money is held": (
        "orders",
        "UPDATE orders SET status = 'cancelled' WHERE status = 'paid_escrow' RETURNING id::text",
    ),
    "what each order shows as refunded is what payments posted": (
        "orders",
        "UPDATE orders SET refunded_minor = refunded_minor + 1 WHERE status = 'paid' AND refunded_minor < total_amount "
        "RETURNING id::text",
    ),
    "the sales of each order are what payments' escrow of it states": (
        "orders",
        (
            "UPDATE sale_lines SET commission_minor = commission_minor + 1, net_minor = net_minor - 1 RETURNING "
            "order_id::text"
        ),
    ),
    "every vendor's locked share is the same in both ledgers": (
        "payouts",
        "UPDATE order_shares SET remaining_vendor_minor = remaining_vendor_minor + 1 RETURNING order_id::text",
    ),
    "what payments released is what payouts received": (
        "payments",
        "UPDATE ledger_balances SET balance_minor = balance_minor + 1 WHERE account LIKE 'vendor_payable:%' "
        "RETURNING split_part(account, ':', 2)",
    ),
    "every line that a release, refund or chargeback made in a wallet is a posting of payments": (
        "payouts",
        "UPDATE wallet_lines SET gross_minor = gross_minor + 1, net_minor = net_minor + 1 WHERE kind = 'release' "
        "RETURNING source_key",
    ),
    "the statement lines of each order are made of what payments released of it": (
        "payouts",
        # Lines of a corrected wallet are not compared.
        "UPDATE wallet_lines SET commission_minor = commission_minor + 1, net_minor = net_minor - 1 WHERE kind = "
        "'release' AND vendor_id NOT IN (SELECT vendor_id FROM wallet_lines WHERE kind = 'correction') "
        "RETURNING order_id::text",
    ),
    "every order is of the parties and amounts that payments received": (
        "payments",
        (
            "UPDATE payable_orders SET commission_minor = commission_minor - 1 WHERE commission_minor > 0 RETURNING "
            "id::text"
        ),
    ),
    "the payment gateway's own ledger equals ours": (
        "payments",
        "UPDATE ledger_entries SET amount_minor = amount_minor + 1 WHERE account = 'gateway_cash' RETURNING NULL",
    ),
    "every transfer at the payment gateway is ours, with its state, amount and fee": (
        "payouts",
        "INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency, "
        "bank_details_version_id, created_at, updated_at) SELECT id, id, id, 1, 'po-' || replace(id::text, '-', "
        "''), 'success', 1, "
        "'NGN', id, now(), now() FROM gen_random_uuid() AS id RETURNING reference",
    ),
    "every charge is recorded as the payment gateway reports it": (
        "payments",
        "UPDATE charges SET amount_minor = amount_minor + 1 RETURNING reference",
    ),
    "every refund moved the amount that the payment gateway reports": (
        "payments",
        "WITH attempt AS (INSERT INTO refunds (id, kind, charge_id, amount_minor, currency, status, reason, "
        "created_at, attempt_id) "
        "SELECT gen_random_uuid(), 'order', id, 5, 'NGN', 'settled', 'x', now(), gen_random_uuid() FROM charges "
        "LIMIT 1 "
        "RETURNING attempt_id), posting AS (INSERT INTO ledger_transactions (id, type, posting_key, currency, "
        "content_hash) "
        "SELECT gen_random_uuid(), 'refund_settled', 'refund_settled:' || attempt_id, 'NGN', 'x' FROM attempt "
        "RETURNING id) "
        "INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency) SELECT id, 'gateway_cash', "
        "-5, 'NGN' "
        "FROM posting RETURNING (SELECT 're-' || replace(attempt_id::text, '-', '') FROM attempt)",
    ),
    "every dispute has the outcome that the payment gateway reports": (
        "payments",
        "INSERT INTO chargebacks (id, identity, charge_id, amount_minor, currency, status, opened_at) SELECT "
        "gen_random_uuid(), "
        "'999999999', id, 1, 'NGN', 'opened', now() FROM charges LIMIT 1 RETURNING identity",
    ),
    "every settlement is posted as the payment gateway reports it": (
        "payments",
        "WITH posting AS (INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash) VALUES "
        "(gen_random_uuid(), 'settlement', 'settlement:999999999', 'NGN', 'x') RETURNING id) "
        "INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency) SELECT id, 'bank_account', "
        "5, 'NGN' "
        "FROM posting RETURNING 'settlement 999999999'",
    ),
    "the past of the payments ledger is what its chain of hashes says": (
        "payments",
        "UPDATE ledger_entries SET amount_minor = -amount_minor WHERE transaction_id = (SELECT transaction_id "
        "FROM ledger_links "
        "ORDER BY sequence LIMIT 1) RETURNING transaction_id::text",
    ),
    "the past of the payouts ledger is what its chain of hashes says": (
        "payouts",
        "UPDATE ledger_entries SET amount_minor = -amount_minor WHERE transaction_id = (SELECT transaction_id "
        "FROM ledger_links "
        "ORDER BY sequence LIMIT 1) RETURNING transaction_id::text",
    ),
}
OF_ORDERS = {
    "no order requests refunds above its total": (
        "INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at) "
        "SELECT gen_random_uuid(), id, total_amount + 1, 'x', 'requested', false, now() FROM orders WHERE status "
        "= 'paid' "
        "RETURNING order_id::text"
    ),
    "an order's total is the sum of its items and its delivery fee": (
        "DELETE FROM order_items WHERE order_id IN (SELECT id FROM orders WHERE status = 'paid') RETURNING "
        "order_id::text"
    ),
    "no order is refunded while one of its refunds is failed": (
        "WITH failed AS (INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at) "
        "SELECT gen_random_uuid(), id, 1, 'x', 'failed', false, now() FROM orders WHERE status = 'paid' "
        "RETURNING order_id) "
        "UPDATE orders SET status = 'refunded' FROM failed WHERE id = order_id RETURNING id::text"
    ),
    "an order shows as refunded what its sales show": (
        "UPDATE orders SET refunded_minor = refunded_minor + 1 WHERE status = 'paid' AND refunded_minor < total_amount "
        "RETURNING id::text"
    ),
}


async def test_what_is_compared_between_services_is_seen_broken(
    system: System, market: Marketplace, users: Users
) -> None:
    await paid_order(market, users)
    await delivered_order(market, users)
    assert await findings_of(system.secrets, market.sandbox) == []
    assert COMPARED.keys() == {line.rule for line in COMPARISONS}
    gateway = Gateway.of({}, system.secrets, str(market.sandbox.base_url).rstrip("/"))

    async with AsyncExitStack() as stack:
        databases = {}
        for service in ("orders", "payments", "payouts"):
            address = urlunsplit(urlsplit(system.servers.postgresql.url)._replace(path=f"/campus_{service}"))
            databases[service] = await asyncpg.connect(address)
            stack.push_async_callback(databases[service].close)
            await databases[service].execute("SET session_replication_role = replica")

        async def sealed():
            return all(
                [
                    await databases[service].fetchval("SELECT count(*) FROM ledger_links")
                    for service in ("payments", "payouts")
                ]
            )

        await eventually(sealed, within=60)

        async def tampered(service, statement, probe):
            """Return the findings of `look`, and the texts that must name the rows."""
            undone = databases[service].transaction()
            await undone.start()
            try:
                words = {row[0] for row in await databases[service].fetch(statement)}
                return await probe(), words
            finally:
                await undone.rollback()

        reported = await stack.enter_async_context(statement_of(gateway))
        await reported.refresh()
        for line in COMPARISONS:
            service, statement = COMPARED[line.rule]
            probe = partial(line.offences, databases, reported, gateway)
            found, words = await tampered(service, statement, probe)
            assert found, line.rule
            assert words, line.rule
            assert all(word is None or any(word in row.text for row in found) for word in words), (line.rule, found)
        for line in INVARIANTS:
            if line.rule in OF_ORDERS:
                statement = OF_ORDERS[line.rule]
                found, words = await tampered(
                    "orders", statement, lambda line=line: databases["orders"].fetch(line.offending)
                )
                assert words, line.rule
                assert words <= {str(row["id"]) for row in found}
    assert await findings_of(system.secrets, market.sandbox) == []


async def test_the_result_of_an_audit_is_recorded_and_shown(system: System, market: Marketplace, users: Users) -> None:
    report, is_recorded = await run(system.state_dir, system.port_base, 30)
    assert is_recorded
    recorded = (await market.http.get("/api/audits?limit=1", headers=users.auditor.headers)).json()["data"][0]
    assert recorded["verdict"] == report.verdict
    assert recorded["gatewayCompared"] is True
    path, found = (
        f"/api/audits/{recorded['id']}",
        [offence for finding in report.findings for offence in finding.offences],
    )
    for reader in (users.checker, users.ops):
        assert (await market.http.get(path, headers=reader.headers)).json()["data"] == recorded
    assert len(recorded["findings"]) == len(found)
    assert (await market.http.get(path, headers=users.maker.headers)).status_code == 403
