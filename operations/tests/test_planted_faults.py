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


def insert(table: str, columns: str, values: str) -> str:
    """Return the SQL of one row; `values` is SQL."""
    return f"INSERT INTO {table} ({', '.join(columns.split())}) VALUES ({values}); "


def posting(type_: str, key: str, *entries: tuple[str, int]) -> str:
    """Return the SQL of a transaction with its entries, older than what the chain may leave unlinked."""
    transaction_id = uuid4()
    return insert(
        "ledger_transactions",
        "id type posting_key currency content_hash created_at",
        f"'{transaction_id}', '{type_}', '{key}', 'NGN', 'x', now() - interval '1 hour'",
    ) + "".join(
        insert(
            "ledger_entries",
            "transaction_id account amount_minor currency",
            f"'{transaction_id}', '{account}', {amount_minor}, 'NGN'",
        )
        for account, amount_minor in entries
    )


def balance(account: str, minor: int, side: str = "credit") -> str:
    values = f"'{account}', 'NGN', '{side}', {minor}"
    return insert("ledger_balances", "account currency side balance_minor", values)


def order(status: str, refunded_minor: int = 0) -> str:
    return insert(
        "orders",
        "id number buyer_id vendor_id campus_id status currency total_amount subtotal_minor delivery_fee_minor "
        "commission_minor refunded_minor payment_due_at idempotency_key fingerprint revision created_at updated_at",
        f"'{ORDER}', 'CM-0000-0001', '{VENDOR}', '{VENDOR}', '{VENDOR}', '{status}', 'NGN', 900, 900, 0, 0, "
        f"{refunded_minor}, now(), '{ORDER}', 'x', 1, now(), now()",
    )


def refund_of_order(amount_minor: int, status: str) -> str:
    return insert(
        "order_refunds",
        "id order_id amount_minor reason status counted requested_at",
        f"gen_random_uuid(), '{ORDER}', {amount_minor}, 'x', '{status}', false, now()",
    )


def sale(gross_minor: int, locked_minor: int, refunded_minor: int, net_minor: int) -> str:
    return insert(
        "sale_lines",
        "item_id order_id product_id vendor_id campus_id category name quantity sold_at sequence gross_minor "
        "locked_minor refunded_minor delivery_fee_minor commission_minor net_minor",
        f"'{ORDER}', '{ORDER}', '{ORDER}', '{VENDOR}', '{VENDOR}', 'meals', 'x', 1, now(), 1, {gross_minor}, "
        f"{locked_minor}, {refunded_minor}, 0, 0, {net_minor}",
    )


def payout(status: str, amount: int = 700) -> str:
    return insert(
        "payout_requests",
        "id vendor_id amount currency status bank_details_version_id requested_by created_at updated_at",
        f"'{PAYOUT}', '{VENDOR}', {amount}, 'NGN', '{status}', '{PAYOUT}', '{VENDOR}', now(), now()",
    )


def transfer(status: str, fee: str = "NULL") -> str:
    return insert(
        "payout_transfers",
        "id payout_id vendor_id attempt reference status amount currency bank_details_version_id created_at "
        "updated_at fee",
        f"'{PAYOUT}', '{PAYOUT}', '{VENDOR}', 1, 'po-{PAYOUT.hex}', '{status}', 700, 'NGN', '{PAYOUT}', now(), now(), "
        f"{fee}",
    )


def wallet_line(net_minor: int, balance_minor: int) -> str:
    return insert(
        "wallet_lines",
        "id vendor_id kind source_key net_minor balance_minor at",
        f"gen_random_uuid(), '{VENDOR}', 'release', 'release:1', {net_minor}, {balance_minor}, now()",
    )


def reconciliation(entries: str) -> str:
    return insert(
        "reconciliations",
        "id payout_id kind status reason postings hash prepared_by prepared_at decided_by decided_at",
        f"'{PAYOUT}', '{PAYOUT}', 'reversal', 'approved', 'x', '{entries}', '{'0' * 64}', '{VENDOR}', now(), "
        f"'{ORDER}', now()",
    )


def charge() -> dict[str, Any]:
    row = {"id": 7, "reference": "pay-7", "amount": 900, "fees": 10, "currency": "NGN", "status": "success"}
    return row | {"paid_at": LONG_AGO}


def listed(kind: str, **row: Any) -> dict[str, list[dict[str, Any]]]:
    """Return a row of five kobo in a list of the gateway."""
    return {kind: [{"amount": 5, "currency": "NGN", **row}]}


RECOVERIES: Final = ("recovery", ""), ("recovery_returned", ""), ("recovery", ":2"), ("recovery", ":3")
POSTED_REVERSAL: Final = posting("reversal", f"reversal:{PAYOUT}", ("gateway_cash", 5), ("wallet:1", -5))
PREPARED_REVERSAL: Final = reconciliation(
    f'[{{"postingKey": "reversal:{PAYOUT}", "entries": [{{"account": "gateway_cash", "amountMinor": 6}}]}}]'
)
PAST_POSTING: Final = "past the posting function"

# Of each database: the rule, the text by which the audit names the fault, and the rows.
OF_PAYOUTS: Final[dict[str, tuple[Any, str]]] = {
    "every transaction sums to zero": (
        "5", posting("release", "release:1", ("wallet:1", -5), ("escrow_released", 10))
    ),
    "every transaction has its entries, in its currency": ("release:1", posting("release", "release:1")),
    "every running balance equals its entries and is not below zero": ("wallet:1", balance("wallet:1", 5)),
    "every account with entries is in the register of accounts, in its currency": (
        "wallet:1", posting("release", "release:1", ("wallet:1", -5), ("escrow_released", 5))
    ),
    "the held amount of each wallet equals its open chargebacks and contradicted transfers": (
        f"held:{VENDOR}", balance(f"held:{VENDOR}", 5)
    ),
    "an open chargeback holds what is at stake, as far as the wallet has it": (
        VENDOR,
        insert(
            "chargebacks", "id order_id vendor_id status vendor_minor uncovered_minor sequence",
            f"'{ORDER}', '{ORDER}', '{VENDOR}', 'opened', 5, 5, 1",
        ) + balance(f"wallet:{VENDOR}", 5),
    ),
    "money that may have been paid twice is held, and waits for two people with an open exception": (
        PAYOUT, payout("failed") + transfer("success")
    ),
    "no money is in transit without a payout, or in a wallet without a statement line": (
        f"in_transit:{PAYOUT}", balance(f"in_transit:{PAYOUT}", 5)
    ),
    "a vendor's debt equals the unpaid advances of the statement, and a vendor with debt has an empty wallet": (
        f"vendor_debt:{VENDOR}", balance(f"vendor_debt:{VENDOR}", 5, "debit")
    ),
    "money in transit equals the payouts that wait for the bank": (PAYOUT, payout("pending")),
    "the last line of each statement is the wallet's balance": (VENDOR, wallet_line(5, 5)),
    "every statement line continues the balance and the time of the one before it": (VENDOR, wallet_line(5, 6)),
    "a scheduled payout is its vendor's, of all that was available": (
        PAYOUT,
        payout("pending", 700) + insert(
            "scheduled_payouts", "vendor_id period outcome available_minor due_at decided_at payout_id",
            f"'{VENDOR}', current_date, 'requested', 701, now(), now(), '{PAYOUT}'",
        ),
    ),
    "each paid transfer is posted once, and a returned one is not": (PAYOUT, payout("processed") + transfer("success")),
    "each checkpoint of a vendor's credits equals its lines and statements up to there": (
        VENDOR,
        insert(
            "release_checkpoints",
            "vendor_id last_line last_received sequence received_minor paid_minor authenticator saved_at",
            f"'{VENDOR}', 7, 7, 1, 5, 0, 'x', now()",
        ),
    ),
    "no vendor's payouts are held because the wallet differs from what payments released": (
        VENDOR,
        insert(
            "payout_exceptions", "id vendor_id cause severity status detail amount respond_by opened_at",
            f"gen_random_uuid(), '{VENDOR}', 'credit_not_released', 'SEV-1', 'open', 'x', 1, now(), now()",
        ),
    ),
    "a processed payout has its confirmed transfer, unless its money was restituted": (PAYOUT, payout("processed")),
    "a failed payout is restituted and no other, a reversed one is processed, and no money returns twice": (
        PAYOUT, payout("failed")
    ),
    "the fees of transfers are in the ledger as the gateway reported them, each beside its transfer": (
        PAYOUT, transfer("success", fee="25")
    ),
    "a transfer is recovered again only after its recovery was returned, and each is returned once": (
        f"recovery:{PAYOUT}:3",
        "".join(
            posting(kind, f"{kind}:{PAYOUT}{number}", ("gateway_cash", 5), ("wallet:1", -5))
            for kind, number in (*RECOVERIES, ("recovery_returned", ":2"))
        ),
    ),
    "every reversal and recovery was approved by a second person, and every approval was posted": (
        f"reversal:{PAYOUT}", POSTED_REVERSAL
    ),
    "the posted entries equal the prepared ones, account by account": (PAYOUT, PREPARED_REVERSAL + POSTED_REVERSAL),
}  # fmt: skip
OF_ORDERS: Final[dict[str, str]] = {
    "an order's total is the sum of its items and its delivery fee": order("paid"),
    "an order shows as refunded what its sales show": order("paid", 5) + sale(900, 0, 4, 896),
    "no order is refunded while one of its refunds is failed": order("refunded") + refund_of_order(900, "failed"),
    "no order requests refunds above its total": order("paid") + refund_of_order(901, "requested"),
    "the sold units of a flash sale equal its orders, and no buyer exceeds the limit": insert(
        "flash_sales",
        "id product_id vendor_id campus_id price_minor quantity per_buyer_limit starts_at ends_at created_by "
        "created_at sold approved_at",
        f"'{ORDER}', '{ORDER}', '{VENDOR}', '{VENDOR}', 5, 5, 5, now(), now() + interval '1 hour', '{VENDOR}', now(), "
        "1, now()",
    ),
    # The table's own constraint rejects it, too.
    "no inventory is below zero": "ALTER TABLE products DROP CONSTRAINT IF EXISTS products_stock_never_negative; "
    + insert(
        "products",
        "id vendor_id vendor_name campus_id name description category price_minor stock created_at updated_at "
        "currency images",
        f"'{ORDER}', '{VENDOR}', 'x', '{VENDOR}', 'x', 'x', 'meals', 5, -1, now(), now(), 'NGN', '[]'",
    ),
}
OF_ALL: Final[dict[str, Fault]] = {
    "every order is of the parties and amounts that payments received": Fault(ORDER, {"orders": order("expired")}),
    "escrow equals the orders whose money is held": Fault(ORDER, {"orders": order("paid_escrow")}),
    "what each order shows as refunded is what payments posted": Fault(ORDER, {"orders": order("paid", 5)}),
    "the sales of each order are what payments' escrow of it states": Fault(ORDER, {"orders": sale(5, 5, 0, 0)}),
    "every vendor's locked share is the same in both ledgers": Fault(
        ORDER,
        {
            "payouts": insert(
                "order_shares", "order_id vendor_id remaining_vendor_minor sequence", f"'{ORDER}', '{VENDOR}', 5, 1"
            )
        },
    ),
    "what payments released is what payouts received": Fault(
        VENDOR, {"payments": balance(f"vendor_payable:{VENDOR}", 5)}
    ),
    "every line that a release, refund or chargeback made in a wallet is a posting of payments": Fault(
        f"release:1 of vendor {VENDOR}", {"payouts": wallet_line(5, 5)}
    ),
    "the statement lines of each order are made of what payments released of it": Fault(
        "say (95, 4, 0)",
        {
            "payouts": insert(
                "wallet_lines",
                "id vendor_id kind source_key order_id gross_minor commission_minor delivery_fee_minor net_minor "
                "balance_minor at",
                f"'{ORDER}', '{VENDOR}', 'release', 'release:1', '{ORDER}', 99, 4, 0, 95, 95, now()",
            )
        },
    ),
    "the past of the payments ledger is what its chain of hashes says": Fault(
        PAST_POSTING, {"payments": posting("charge", "charge:1", ("gateway_cash", 5), ("escrow:1", -5))}
    ),
    "the past of the payouts ledger is what its chain of hashes says": Fault(
        PAST_POSTING, {"payouts": posting("release", "release:1", ("wallet:1", -5), ("escrow_released", 5))}
    ),
    "the payment gateway's own ledger equals ours": Fault("5 kobo of ours", {}, balance_minor=5),
    "every transfer at the payment gateway is ours, with its state, amount and fee": Fault(
        "po-stray", {}, listed("transfer", reference="po-stray", status="success", updatedAt=LONG_AGO)
    ),
    "every charge is recorded as the payment gateway reports it": Fault("pay-7", {}, {"transaction": [charge()]}),
    "every refund moved the amount that the payment gateway reports": Fault(
        "re-7", {}, listed("refund", id=7, merchant_note="re-7", status="processed", createdAt=LONG_AGO)
    ),
    "every dispute has the outcome that the payment gateway reports": Fault(
        "dispute 7",
        {},
        listed("dispute", id=7, refund_amount=5, currency=None, status="resolved", resolution="auto-accepted"),
    ),
    "every settlement is posted as the payment gateway reports it": Fault(
        "settlement 7",
        {"payments": posting("settlement", "settlement:7", ("bank_account", 5), ("gateway_cash", -5))},
    ),
}
FAULTS: Final[dict[tuple[str, str], Fault]] = (
    {("payouts", rule): Fault(names, {"payouts": rows}) for rule, (names, rows) in OF_PAYOUTS.items()}
    | {("orders", rule): Fault(ORDER, {"orders": rows}) for rule, rows in OF_ORDERS.items()}
    | {("all", rule): fault for rule, fault in OF_ALL.items()}
)


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
