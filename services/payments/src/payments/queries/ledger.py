"""The accounts of the ledger, for auditors and finance."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from payments.domain.accounts import HOME_CURRENCY, gateway_cash, side_of
from payments.responses.ledger import LedgerAccount, MoneyHeld, TrialBalanceLine
from payments.store.ledger_totals import SUMS

# Sorts after every name in the index (`text_pattern_ops`), which orders by bytes.
_LAST_CHARACTER: Final = "\U0010ffff"
_FILTER: Final = """
($1::text IS NULL OR (account ~>=~ $1 AND account ~<~ $2)) AND ($3::timestamptz IS NULL OR opened_at <= $3)
"""
# Of the order whose escrow or refund the account is; null for others.
ORDER_NUMBER_OF_ACCOUNT: Final = """
CASE split_part(account, ':', 1)
    WHEN 'escrow' THEN number_of_order(split_part(account, ':', 2)::uuid)
    WHEN 'refund_payable' THEN (
        SELECT number_of_order(f.order_id) FROM refunds f WHERE f.id = split_part(account, ':', 2)::uuid
    )
END
"""
# Guarded accounts have a running balance; the balance of the few others is the sum of their entries (decision 7).
_BALANCES_NOW: Final = """
SELECT named.account, CASE WHEN b.account IS NULL
    THEN (SELECT sum(e.amount_minor)::bigint FROM ledger_entries e WHERE e.account = named.account)
    ELSE CASE b.side WHEN 'debit' THEN b.balance_minor ELSE -b.balance_minor END END AS balance_minor
FROM unnest($1::text[]) AS named (account) LEFT JOIN ledger_balances b ON b.account = named.account
"""
_BALANCES_AT: Final = """
SELECT e.account, sum(e.amount_minor)::bigint AS balance_minor
FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
WHERE e.account = ANY ($1::text[]) AND t.created_at <= $2 GROUP BY e.account
"""


# The totals of whole days before $1 (all of them without it), and the entries that they do not include: of transactions
# without a link or with a later one, and of those from $1 until $2. The audit proves the totals from the entries.
_TRIAL_BALANCE: Final = f"""
WITH included AS MATERIALIZED (SELECT coalesce(max(sequence), 0) AS sequence FROM ledger_totals),
added AS (
    SELECT id, currency FROM ledger_transactions WHERE created_at >= $1 AND created_at <= $2
    UNION ALL
    SELECT id, currency FROM ledger_transactions WHERE ($1::timestamptz IS NULL OR created_at < $1) AND id IN (
        SELECT transaction_id FROM ledger_links
        WHERE sequence > (SELECT sequence FROM included) AND sequence < {2**63 - 1}
        UNION ALL SELECT transaction_id FROM ledger_unsealed
    )
),
lines AS MATERIALIZED (
    SELECT account, split_part(account, ':', 1) AS kind, added.currency, amount_minor, NULL::date AS day
    FROM added JOIN ledger_entries ON transaction_id = added.id
),
{SUMS.format(included="(SELECT sequence FROM included)", before="coalesce($1, 'infinity')")}
SELECT kind, currency, sum(accounts)::bigint AS accounts, sum(debit_minor)::bigint AS debit_minor,
    sum(credit_minor)::bigint AS credit_minor
FROM (
    SELECT kind, currency, accounts, debit_minor, credit_minor FROM ledger_totals
    WHERE $1::timestamptz IS NULL OR day < ($1 AT TIME ZONE 'UTC')::date
    UNION ALL
    SELECT kind, currency, coalesce(accounts, 0), debit_minor, credit_minor
    FROM summed LEFT JOIN opened USING (kind, currency)
) AS parts
GROUP BY 1, 2 ORDER BY currency <> 'NGN', 2, 1
"""
# Running balances, so that a page may show it: one row for each guarded account, and the charges' part of the index.
_MONEY_HELD: Final = f"""
SELECT sum(balance_minor) FILTER (WHERE kind = 'escrow')::bigint AS escrow_minor,
    sum(balance_minor) FILTER (WHERE kind IN ('buyer_balance', 'balance_held'))::bigint AS buyer_balances_minor,
    sum(balance_minor) FILTER (WHERE kind IN ('refund_payable', 'withdrawal_payable'))::bigint AS refunds_minor,
    sum(balance_minor) FILTER (WHERE kind = 'vendor_payable')::bigint AS vendor_payable_minor,
    (SELECT sum(amount_minor)::bigint FROM ledger_entries WHERE account = $1) AS gateway_minor
FROM (
    SELECT split_part(account, ':', 1) AS kind, balance_minor
    FROM ledger_balances WHERE balance_minor > 0 AND currency = '{HOME_CURRENCY}'
) AS guarded
"""


async def find_money_held(uow: UnitOfWork) -> MoneyHeld:
    """Return where the money is now. It costs the open balances and the entries of the gateway's account."""
    row = await uow.fetch_row(_MONEY_HELD, gateway_cash().name)
    amounts = {} if row is None else {name: amount or 0 for name, amount in row.items()}
    return MoneyHeld(**amounts, currency=HOME_CURRENCY)


async def trial_balance(uow: UnitOfWork, at: datetime | None) -> list[TrialBalanceLine]:
    """Return the sums of all entries by kind of account and currency, now or at an instant. Costs the totals of each
    day, and the entries of the day of `at` or of the last minute.
    """
    day = None if at is None else at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [
        TrialBalanceLine.from_row(
            row, balance_minor=row["debit_minor"] - row["credit_minor"], side=side_of(row["kind"])
        )
        for row in await uow.fetch(_TRIAL_BALANCE, day, at)
    ]


async def find_balances(uow: UnitOfWork, accounts: Sequence[str]) -> dict[str, int]:
    """Return the balance of each of these accounts in kobo, debit positive; 0 of one that was never opened."""
    rows = await uow.fetch(_BALANCES_NOW, list(accounts))
    return {row["account"]: row["balance_minor"] or 0 for row in rows}


async def page_of_accounts(
    uow: UnitOfWork, page: OffsetPage, prefix: str | None, at: datetime | None
) -> Found[LedgerAccount]:
    """Return the accounts with a name prefix, with their balance in kobo now or at an instant, debit positive.

    An account is opened by its first entry; one that was opened after `at` is not listed. A page costs the entries of
    its accounts.
    """
    filters = (prefix, None if prefix is None else prefix + _LAST_CHARACTER, at)
    total = await uow.fetch_value(f"SELECT count(*) FROM ledger_accounts WHERE {_FILTER}", *filters)
    order = page.order_by({"created_at": "position"}[page.sort], "account")
    rows = await uow.fetch(
        f"""
SELECT account, currency, {ORDER_NUMBER_OF_ACCOUNT} AS order_number FROM ledger_accounts
WHERE {_FILTER} {order} LIMIT $4 OFFSET $5
""",
        *filters,
        page.limit,
        page.offset,
    )
    names = [row["account"] for row in rows]
    found = await (uow.fetch(_BALANCES_NOW, names) if at is None else uow.fetch(_BALANCES_AT, names, at))
    balances: dict[str, int] = {row["account"]: row["balance_minor"] for row in found}
    return [
        LedgerAccount.from_row(row, balance_minor=balances.get(row["account"], 0), side=side_of(row["account"]))
        for row in rows
    ], total
