"""Every rule of the audit has a planted fault that trips it. Those of payments' own database are planted in its own
tests.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from operations.audit.comparisons import COMPARISONS
from operations.audit.gateway import Gateway
from operations.audit.invariants import INVARIANTS
from operations.audit.report import rules
from operations.audit.statement import statement_of
from testkit.fixtures import DatabaseFactory
from testkit.service_kit import served

from .as_audit import as_audit
from .gateway_double import KEY, GatewayDouble

VENDOR: Final = UUID("0a000000-0000-7000-8000-000000000001")
ORDER: Final = UUID("0a000000-0000-7000-8000-000000000002")
PAYOUT: Final = UUID("0a000000-0000-7000-8000-000000000003")
LONG_AGO: Final = "2026-01-01T00:00:00.000Z"


@dataclass(frozen=True)
class Fault:
    """Statements by service, rows of the gateway's lists, and the text by which the audit must name the fault."""

    names: Any
    statements: dict[str, str]
    lists: dict[str, list[dict[str, Any]]] | None = None
    balance_minor: int = 0


def posting(type_: str, key: str, *entries: tuple[str, int]) -> str:
    """Return the SQL of a transaction with its entries, older than what the chain may leave unlinked."""
    transaction_id = uuid4()
    statement = (
        "INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash, created_at) "
        f"VALUES ('{transaction_id}', '{type_}', '{key}', 'NGN', 'x', now() - interval '1 hour'); "
    )
    for account, amount_minor in entries:
        statement += (
            "INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency) "
            f"VALUES ('{transaction_id}', '{account}', {amount_minor}, 'NGN'); "
        )
    return statement


def balance(account: str, minor: int, side: str = "credit") -> str:
    return (
        f"INSERT INTO ledger_balances (account, currency, side, balance_minor) VALUES ('{account}', 'NGN', "
        f"'{side}', {minor}); "
    )


def order(status: str, refunded_minor: int = 0) -> str:
    return (
        "INSERT INTO orders (id, number, buyer_id, vendor_id, campus_id, status, currency, total_amount, "
        "subtotal_minor, "
        "delivery_fee_minor, commission_minor, refunded_minor, payment_due_at, idempotency_key, fingerprint, "
        "revision, created_at, "
        f"updated_at) VALUES ('{ORDER}', 'CM-0000-0001', '{VENDOR}', '{VENDOR}', '{VENDOR}', '{status}', 'NGN', "
        "900, 900, 0, 0, "
        f"{refunded_minor}, now(), '{ORDER}', 'x', 1, now(), now()); "
    )


def payout(status: str, amount: int = 700) -> str:
    return (
        "INSERT INTO payout_requests (id, vendor_id, amount, currency, status, bank_details_version_id, "
        "requested_by, created_at, "
        f"updated_at) VALUES ('{PAYOUT}', '{VENDOR}', {amount}, 'NGN', '{status}', '{PAYOUT}', '{VENDOR}', "
        "now(), now()); "
    )


def transfer(status: str, reference: str = f"po-{PAYOUT.hex}", fee: str = "NULL") -> str:
    return (
        "INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency, "
        f"bank_details_version_id, created_at, updated_at, fee) VALUES ('{PAYOUT}', '{PAYOUT}', '{VENDOR}', 1, "
        f"'{reference}', "
        f"'{status}', 700, 'NGN', '{PAYOUT}', now(), now(), {fee}); "
    )


def wallet_line(kind: str, net_minor: int, balance_minor: int, key: str = "release:1", at: str = "now()") -> str:
    return (
        "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, net_minor, balance_minor, at) "
        f"VALUES (gen_random_uuid(), '{VENDOR}', '{kind}', '{key}', {net_minor}, {balance_minor}, {at}); "
    )


def reconciliation(entries: str = "[]") -> str:
    return (
        "INSERT INTO reconciliations (id, payout_id, kind, status, reason, postings, hash, prepared_by, "
        "prepared_at, decided_by, "
        f"decided_at) VALUES ('{PAYOUT}', '{PAYOUT}', 'reversal', 'approved', 'x', '{entries}', '{'0' * 64}', "
        f"'{VENDOR}', now(), "
        f"'{ORDER}', now()); "
    )


def charge(**changes: Any) -> dict[str, Any]:
    return {"id": 7, "reference": "pay-7", "amount": 900, "fees": 10, "currency": "NGN", "status": "success"} | {
        "paid_at": LONG_AGO
    } | changes  # fmt: skip


FAULTS: Final[dict[tuple[str, str], Fault]] = {
    ("payouts", "every transaction sums to zero"): Fault(
        "5", {"payouts": posting("release", "release:1", ("wallet:1", -5), ("escrow_released", 10))}
    ),
    ("payouts", "every transaction has its entries, in its currency"): Fault(
        "release:1", {"payouts": posting("release", "release:1")}
    ),
    ("payouts", "every running balance equals its entries and is not below zero"): Fault(
        "wallet:1", {"payouts": balance("wallet:1", 5)}
    ),
    ("payouts", "every account with entries is in the register of accounts, in its currency"): Fault(
        "wallet:1", {"payouts": posting("release", "release:1", ("wallet:1", -5), ("escrow_released", 5))}
    ),
    ("payouts", "the held amount of each wallet equals its open chargebacks and contradicted transfers"): Fault(
        f"held:{VENDOR}", {"payouts": balance(f"held:{VENDOR}", 5)}
    ),
    ("payouts", "an open chargeback holds what is at stake, as far as the wallet has it"): Fault(
        VENDOR,
        {
            "payouts": "INSERT INTO chargebacks (id, order_id, vendor_id, status, vendor_minor, uncovered_minor, "
            "sequence) "
            f"VALUES ('{ORDER}', '{ORDER}', '{VENDOR}', 'opened', 5, 5, 1); " + balance(f"wallet:{VENDOR}", 5)
        },
    ),
    ("payouts", "money that may have been paid twice is held, and waits for two people with an open exception"): Fault(
        PAYOUT, {"payouts": payout("failed") + transfer("success")}
    ),
    ("payouts", "no money is in transit without a payout, or in a wallet without a statement line"): Fault(
        f"in_transit:{PAYOUT}", {"payouts": balance(f"in_transit:{PAYOUT}", 5)}
    ),
    (
        "payouts",
        "a vendor's debt equals the unpaid advances of the statement, and a vendor with debt has an empty wallet",
    ): Fault(f"vendor_debt:{VENDOR}", {"payouts": balance(f"vendor_debt:{VENDOR}", 5, "debit")}),
    ("payouts", "money in transit equals the payouts that wait for the bank"): Fault(
        PAYOUT, {"payouts": payout("pending")}
    ),
    ("payouts", "the last line of each statement is the wallet's balance"): Fault(
        VENDOR, {"payouts": wallet_line("release", 5, 5)}
    ),
    ("payouts", "every statement line continues the balance and the time of the one before it"): Fault(
        VENDOR, {"payouts": wallet_line("release", 5, 6)}
    ),
    ("payouts", "a scheduled payout is its vendor's, of all that was available"): Fault(
        PAYOUT,
        {
            "payouts": payout("pending", 700)
            + "INSERT INTO scheduled_payouts (vendor_id, period, outcome, available_minor, due_at, decided_at, "
            "payout_id) "
            f"VALUES ('{VENDOR}', current_date, 'requested', 701, now(), now(), '{PAYOUT}')"
        },
    ),
    ("payouts", "each paid transfer is posted once, and a returned one is not"): Fault(
        PAYOUT, {"payouts": payout("processed") + transfer("success")}
    ),
    ("payouts", "each checkpoint of a vendor's credits equals its lines and statements up to there"): Fault(
        VENDOR,
        {
            "payouts": "INSERT INTO release_checkpoints (vendor_id, last_line, last_received, sequence, "
            "received_minor, paid_minor, authenticator, saved_at) "
            f"VALUES ('{VENDOR}', 7, 7, 1, 5, 0, 'x', now())"
        },
    ),
    ("payouts", "no vendor's payouts are held because the wallet differs from what payments released"): Fault(
        VENDOR,
        {
            "payouts": "INSERT INTO payout_exceptions (id, vendor_id, cause, severity, status, detail, amount, "
            "respond_by, opened_at) "
            f"VALUES (gen_random_uuid(), '{VENDOR}', 'credit_not_released', 'SEV-1', 'open', 'x', 1, now(), now())"
        },
    ),
    ("payouts", "a processed payout has its confirmed transfer, unless its money was restituted"): Fault(
        PAYOUT, {"payouts": payout("processed")}
    ),
    (
        "payouts",
        "a failed payout is restituted and no other, a reversed one is processed, and no money returns twice",
    ): Fault(PAYOUT, {"payouts": payout("failed")}),
    ("payouts", ("the fees of transfers are in the ledger as the gateway reported them, each beside its "
    "transfer")): Fault(
        PAYOUT, {"payouts": transfer("success", fee="25")}
    ),
    (
        "payouts",
        "a transfer is recovered again only after its recovery was returned, and each is returned once",
    ): Fault(
        f"recovery:{PAYOUT}:3",
        {
            "payouts": "".join(
                posting(kind, f"{kind}:{PAYOUT}{number}", ("gateway_cash", 5), ("wallet:1", -5))
                for kind, number in (
                    ("recovery", ""),
                    ("recovery_returned", ""),
                    ("recovery", ":2"),
                    ("recovery", ":3"),
                    ("recovery_returned", ":2"),
                )
            )
        },
    ),
    ("payouts", "every reversal and recovery was approved by a second person, and every approval was posted"): Fault(
        f"reversal:{PAYOUT}", {"payouts": posting("reversal", f"reversal:{PAYOUT}", ("gateway_cash", 5),
        ("wallet:1", -5))}
    ),
    ("payouts", "the posted entries equal the prepared ones, account by account"): Fault(
        PAYOUT,
        {
            "payouts": reconciliation(
                f'[{{"postingKey": "reversal:{PAYOUT}", "entries": [{{"account": "gateway_cash", "amountMinor": 6}}]}}]'
            )
            + posting("reversal", f"reversal:{PAYOUT}", ("gateway_cash", 5), ("wallet:1", -5))
        },
    ),
    ("orders", ("an order's total is the sum of its items and its delivery "
    "fee")): Fault(ORDER, {"orders": order("paid")}),
    ("orders", "an order shows as refunded what its sales show"): Fault(
        ORDER,
        {
            "orders": order("paid", 5)
            + "INSERT INTO sale_lines (item_id, order_id, product_id, vendor_id, campus_id, category, name, "
            "quantity, sold_at, "
            "sequence, gross_minor, locked_minor, refunded_minor, delivery_fee_minor, commission_minor, "
            "net_minor) VALUES "
            f"('{ORDER}', '{ORDER}', '{ORDER}', '{VENDOR}', '{VENDOR}', 'meals', 'x', 1, now(), 1, 900, 0, 4, 0, "
            "0, 896)"
        },
    ),
    ("orders", "no order is refunded while one of its refunds is failed"): Fault(
        ORDER,
        {
            "orders": order("refunded")
            + "INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at) "
            f"VALUES (gen_random_uuid(), '{ORDER}', 900, 'x', 'failed', false, now())"
        },
    ),
    ("orders", "no order requests refunds above its total"): Fault(
        ORDER,
        {
            "orders": order("paid")
            + "INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at) "
            f"VALUES (gen_random_uuid(), '{ORDER}', 901, 'x', 'requested', false, now())"
        },
    ),
    ("orders", "the sold units of a flash sale equal its orders, and no buyer exceeds the limit"): Fault(
        ORDER,
        {
            "orders": "INSERT INTO flash_sales (id, product_id, vendor_id, campus_id, price_minor, quantity, "
            "per_buyer_limit, "
            "starts_at, ends_at, created_by, created_at, sold, approved_at) "
            f"VALUES ('{ORDER}', '{ORDER}', '{VENDOR}', '{VENDOR}', 5, 5, 5, now(), "
            f"now() + interval '1 hour', '{VENDOR}', now(), 1, now())"
        },
    ),
    ("orders", "no inventory is below zero"): Fault(
        ORDER,
        {
            # The table's own constraint rejects it, too.
            "orders": "ALTER TABLE products DROP CONSTRAINT IF EXISTS products_stock_never_negative; "
            "INSERT INTO products (id, vendor_id, vendor_name, campus_id, name, description, category, "
            "price_minor, stock, "
            f"created_at, updated_at, currency, images) VALUES ('{ORDER}', '{VENDOR}', 'x', '{VENDOR}', 'x', "
            "'x', 'meals', 5, -1, now(), "
            "now(), 'NGN', '[]')"
        },
    ),
    ("all", ("every order is of the parties and amounts that payments "
    "received")): Fault(ORDER, {"orders": order("expired")}),
    ("all", "escrow equals the orders whose money is held"): Fault(ORDER, {"orders": order("paid_escrow")}),
    ("all", "what each order shows as refunded is what payments posted"): Fault(ORDER, {"orders": order("paid", 5)}),
    ("all", "the sales of each order are what payments' escrow of it states"): Fault(
        ORDER,
        {
            "orders": "INSERT INTO sale_lines (item_id, order_id, product_id, vendor_id, campus_id, category, name, "
            "quantity, sold_at, "
            "sequence, gross_minor, locked_minor, refunded_minor, delivery_fee_minor, commission_minor, "
            "net_minor) VALUES "
            f"('{ORDER}', '{ORDER}', '{ORDER}', '{VENDOR}', '{VENDOR}', 'meals', 'x', 1, now(), 1, 5, 5, 0, 0, 0, 0)"
        },
    ),
    ("all", "every vendor's locked share is the same in both ledgers"): Fault(
        ORDER,
        {
            "payouts": "INSERT INTO order_shares (order_id, vendor_id, remaining_vendor_minor, sequence) "
            f"VALUES ('{ORDER}', '{VENDOR}', 5, 1)"
        },
    ),
    ("all", "what payments released is what payouts received"): Fault(
        VENDOR, {"payments": balance(f"vendor_payable:{VENDOR}", 5)}
    ),
    ("all", "every line that a release, refund or chargeback made in a wallet is a posting of payments"): Fault(
        f"release:1 of vendor {VENDOR}", {"payouts": wallet_line("release", 5, 5)}
    ),
    ("all", "the statement lines of each order are made of what payments released of it"): Fault(
        "say (95, 4, 0)",
        {
            "payouts": "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, order_id, gross_minor, "
            "commission_minor, "
            "delivery_fee_minor, net_minor, balance_minor, at) VALUES "
            f"('{ORDER}', '{VENDOR}', 'release', 'release:1', '{ORDER}', 99, 4, 0, 95, 95, now())"
        },
    ),
    ("all", "the past of the payments ledger is what its chain of hashes says"): Fault(
        "past the posting function", {"payments": posting("charge", "charge:1", ("gateway_cash", 5), ("escrow:1", -5))}
    ),
    ("all", "the past of the payouts ledger is what its chain of hashes says"): Fault(
        "past the posting function", {"payouts": posting("release", "release:1", ("wallet:1", -5),
        ("escrow_released", 5))}
    ),
    ("all", "the payment gateway's own ledger equals ours"): Fault("5 kobo of ours", {}, balance_minor=5),
    ("all", "every transfer at the payment gateway is ours, with its state, amount and fee"): Fault(
        "po-stray",
        {},
        {
            "transfer": [
                {"reference": "po-stray", "amount": 5, "currency": "NGN", "status": "success", "updatedAt": LONG_AGO}
            ]
        },
    ),
    ("all", "every charge is recorded as the payment gateway reports it"): Fault(
        "pay-7", {}, {"transaction": [charge()]}
    ),
    ("all", "every refund moved the amount that the payment gateway reports"): Fault(
        "re-7",
        {},
        {
            "refund": [
                {"id": 7, "merchant_note": "re-7", "amount": 5, "currency": "NGN", "status": "processed",
                "createdAt": LONG_AGO}
            ]
        },
    ),
    ("all", "every dispute has the outcome that the payment gateway reports"): Fault(
        "dispute 7",
        {},
        {"dispute": [{"id": 7, "refund_amount": 5, "currency": None, "status": "resolved",
        "resolution": "auto-accepted"}]},
    ),
    ("all", "every settlement is posted as the payment gateway reports it"): Fault(
        "settlement 7",
        {"payments": posting("settlement", "settlement:7", ("bank_account", 5), ("gateway_cash", -5))},
    ),
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def databases(module_database: DatabaseFactory) -> AsyncIterator[dict[str, asyncpg.Connection]]:
    """Yield the databases of the audited services, past every guard. A test's changes are rolled back."""
    async with AsyncExitStack() as stack:
        opened = {}
        for service in ("orders", "payments", "payouts"):
            opened[service] = await asyncpg.connect((await module_database(service)).admin)
            stack.push_async_callback(opened[service].close)
            await opened[service].execute("SET session_replication_role = replica")
        yield opened


def test_every_rule_has_a_planted_fault() -> None:
    declared = set(rules())
    assert {where for where, _ in declared} == {"payments", "payouts", "orders", "all"}
    assert {rule for rule in declared if rule[0] != "payments"} == FAULTS.keys()


@pytest.mark.parametrize("where_and_rule", FAULTS, ids=lambda key: f"{key[0]}: {key[1]}"[:60])
async def test_a_planted_fault_trips_its_rule(
    databases: dict[str, asyncpg.Connection], where_and_rule: tuple[str, str]
) -> None:
    fault = FAULTS[where_and_rule]
    gateway = GatewayDouble()
    assert await _texts(databases, where_and_rule, gateway) == []
    async with AsyncExitStack() as stack:
        for service, statements in fault.statements.items():
            undone = databases[service].transaction()
            await undone.start()
            stack.push_async_callback(undone.rollback)
            await databases[service].execute(statements)
        gateway.lists |= fault.lists or {}
        gateway.balance_minor = fault.balance_minor
        texts = await _texts(databases, where_and_rule, gateway)
    assert any(str(fault.names) in text for text in texts), texts


async def _texts(
    databases: dict[str, asyncpg.Connection], where_and_rule: tuple[str, str], double: GatewayDouble
) -> list[str]:
    """Return the offences of one rule as texts; each of them is broken, or by its rule open."""
    where, rule = where_and_rule
    if where != "all":
        [invariant] = [line for line in INVARIANTS if (line.service, line.rule) == where_and_rule]
        async with as_audit(databases):
            return [str(dict(row)) for row in await databases[where].fetch(invariant.offending)]
    [comparison] = [line for line in COMPARISONS if line.rule == rule]
    async with served(double.app()) as url:
        gateway = Gateway(url, KEY)
        async with statement_of(gateway) as statement:
            await statement.refresh()
            async with as_audit(databases):
                offences = await comparison.offences(databases, statement, gateway)
    assert all(offence.kind == "broken" for offence in offences)
    return [offence.text for offence in offences]
