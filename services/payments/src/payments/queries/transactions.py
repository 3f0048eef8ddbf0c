"""The transactions of the ledger, for auditors and finance.

`transactions` is a view of the ledger under the specification's name: `id`, `type`, `posting_key`, `currency`,
`created_at`, and `entries` (`[{account, amountMinor}]`, debit positive). Rights and row policies are those of the
reader.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from contracts.transaction_types import TransactionType
from payments.queries.ledger import ORDER_NUMBER_OF_ACCOUNT
from payments.responses.ledger import LedgerEntry, LedgerTransaction


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """The filters of a list of transactions; the period includes `start` and excludes `end`."""

    type: TransactionType | None = None
    account: str | None = None
    order_id: UUID | None = None
    start: datetime | None = None
    end: datetime | None = None
    # A part of the posting key.
    reference: str | None = None


# The transactions of an order: those of its accounts (escrow, refunds, quarantined charges), its chargebacks, which
# after a release change none of these accounts, and the gateway's fees of its charges.
_OF_ORDER: Final = """
t.id IN (
    WITH of_accounts AS (
        SELECT e.transaction_id FROM ledger_entries e WHERE e.account IN (
            SELECT 'escrow:' || {0}::uuid::text
            UNION ALL SELECT 'refund_payable:' || f.id::text FROM refunds f WHERE f.order_id = {0}
            UNION ALL SELECT 'quarantine:' || q.reference || CASE q.currency WHEN 'NGN' THEN ''
                ELSE ':' || q.currency END
            FROM quarantined_charges q WHERE q.order_id = {0}
        )
    )
    SELECT transaction_id FROM of_accounts
    UNION ALL SELECT named.id FROM ledger_transactions named WHERE named.posting_key IN (
        SELECT word || b.id::text FROM chargebacks b, unnest(ARRAY['chargeback:', 'chargeback_won:']) AS word
        WHERE b.order_id = {0} OR b.charge_id IN (
            SELECT f.charge_id FROM refunds f WHERE f.order_id = {0}
            UNION ALL SELECT q.charge_id FROM quarantined_charges q WHERE q.order_id = {0}
        )
        UNION ALL SELECT 'gateway_fee:' || substr(c.posting_key, strpos(c.posting_key, ':') + 1)
        FROM of_accounts JOIN ledger_transactions c ON c.id = of_accounts.transaction_id
        WHERE c.type IN ('charge', 'overpayment', 'quarantine')
    )
)
"""
_CONDITIONS: Final = {
    "type": "t.type = {0}",
    "account": "t.id IN (SELECT e.transaction_id FROM ledger_entries e WHERE e.account = {0})",
    "order_id": _OF_ORDER,
    "reference": "strpos(t.posting_key, {0}) > 0",
    "start": "t.created_at >= {0}",
    "end": "t.created_at < {0}",
}
_AMOUNT: Final = """
(SELECT sum(amount_minor) FROM ledger_entries e WHERE e.transaction_id = t.id AND amount_minor > 0)
"""
_TRANSACTIONS: Final = "SELECT t.id, t.type, t.posting_key, t.currency, t.created_at FROM ledger_transactions t"
_ENTRIES: Final = f"""
SELECT transaction_id, account, amount_minor, {ORDER_NUMBER_OF_ACCOUNT} AS order_number
FROM ledger_entries WHERE transaction_id = ANY ($1::uuid[]) ORDER BY position
"""
# Reads the index backwards; each batch starts after the last row of the previous one.
_NEXT_PIECE: Final = f"""
{_TRANSACTIONS} WHERE t.created_at >= $1 AND t.created_at < $2 AND (t.created_at, t.id) > ($3, $4)
ORDER BY t.created_at, t.id LIMIT $5
"""


async def page_of_transactions(
    uow: UnitOfWork, page: OffsetPage, filters: TransactionFilter
) -> Found[LedgerTransaction]:
    """Transactions with their entries in kobo, debit positive. The sort `amount` is the sum of the debits."""
    given = {name: value for name in _CONDITIONS if (value := getattr(filters, name)) is not None}
    parameters = Parameters()
    where = all_of(parameters.conditions(_CONDITIONS, given))
    total = await uow.fetch_value(f"SELECT count(*) FROM ledger_transactions t WHERE {where}", *parameters.values)
    order = page.order_by({"created_at": "t.created_at", "amount": _AMOUNT}[page.sort], "t.position")
    bounds = parameters.condition("LIMIT {} OFFSET {}", page.limit, page.offset)
    rows = await uow.fetch(f"{_TRANSACTIONS} WHERE {where} {order} {bounds}", *parameters.values)
    return await _with_entries(uow, rows), total


async def find_transaction(uow: UnitOfWork, transaction_id: UUID) -> LedgerTransaction:
    """One transaction with its entries. Raises NotFound."""
    rows = await uow.fetch(f"{_TRANSACTIONS} WHERE t.id = $1", transaction_id)
    if not rows:
        raise NotFound
    [transaction] = await _with_entries(uow, rows)
    return transaction


@dataclass(frozen=True, slots=True)
class ExportPosition:
    """The last transaction of a batch: the next one starts after it."""

    created_at: datetime
    id: UUID


async def list_transactions_after(
    uow: UnitOfWork, start: datetime, end: datetime, position: ExportPosition | None, limit: int
) -> tuple[list[LedgerTransaction], ExportPosition | None]:
    """Return the next transactions of a period, oldest first, and the position after them; None at the end."""
    after = position or ExportPosition(start, UUID(int=0))
    rows = await uow.fetch(_NEXT_PIECE, start, end, after.created_at, after.id, limit)
    last = ExportPosition(rows[-1]["created_at"], rows[-1]["id"]) if len(rows) == limit else None
    return await _with_entries(uow, rows), last


async def _with_entries(uow: UnitOfWork, rows: list[asyncpg.Record]) -> list[LedgerTransaction]:
    entries: dict[UUID, list[LedgerEntry]] = {row["id"]: [] for row in rows}
    numbers: dict[UUID, dict[str, str]] = {row["id"]: {} for row in rows}
    for entry in await uow.fetch(_ENTRIES, list(entries)):
        entries[entry["transaction_id"]].append(LedgerEntry.from_row(entry))
        if entry["order_number"] is not None:
            numbers[entry["transaction_id"]][entry["account"]] = entry["order_number"]
    return [
        LedgerTransaction.from_row(row, entries=entries[row["id"]], order_numbers=numbers[row["id"]]) for row in rows
    ]
