"""The accounts of the book, for auditors and finance."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.web.http import OffsetPage
from payments.domain.accounts import buyer_reward, side_of
from payments.queries.pages import Page, ordered

# Behind every name in the order of the index (`text_pattern_ops`), which is that of the bytes.
_LAST_CHARACTER: Final = "\U0010ffff"
_WANTED: Final = """
($1::text IS NULL OR (account ~>=~ $1 AND account ~<~ $2)) AND ($3::timestamptz IS NULL OR opened_at <= $3)
"""
# Guarded accounts keep a running balance; the few others are the sum of their entries (decision 7).
_BALANCES_NOW: Final = """
SELECT asked.account, CASE WHEN b.account IS NULL
    THEN (SELECT sum(e.amount_minor)::bigint FROM ledger_entries e WHERE e.account = asked.account)
    ELSE CASE b.side WHEN 'debit' THEN b.balance_minor ELSE -b.balance_minor END END AS balance_minor
FROM unnest($1::text[]) AS asked (account) LEFT JOIN ledger_balances b ON b.account = asked.account
"""
_BALANCES_AT: Final = """
SELECT e.account, sum(e.amount_minor)::bigint AS balance_minor
FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
WHERE e.account = ANY ($1::text[]) AND t.created_at <= $2 GROUP BY e.account
"""


async def page_of_accounts(uow: UnitOfWork, page: OffsetPage, prefix: str | None, at: datetime | None) -> Page:
    """The accounts whose name begins so, with their balance now or as it was at an instant, debit positive.

    An account is as old as its first entry; one that was opened later than `at` is not listed. A page costs the entries of
    the accounts that it shows.
    """
    wanted = (prefix, None if prefix is None else prefix + _LAST_CHARACTER, at)
    total = await uow.fetch_value(f"SELECT count(*) FROM ledger_accounts WHERE {_WANTED}", *wanted)
    order = ordered(page, {"created_at": "position"}, "account")
    rows = await uow.fetch(
        f"SELECT account, currency FROM ledger_accounts WHERE {_WANTED} {order} LIMIT $4 OFFSET $5",
        *wanted,
        page.limit,
        page.offset,
    )
    names = [row["account"] for row in rows]
    found = await (uow.fetch(_BALANCES_NOW, names) if at is None else uow.fetch(_BALANCES_AT, names, at))
    balances: dict[str, int] = {row["account"]: row["balance_minor"] for row in found}
    return [
        {
            "account": row["account"],
            "currency": row["currency"],
            "balanceMinor": balances.get(row["account"], 0),
            "side": side_of(row["account"]),
        }
        for row in rows
    ], total


_REWARD: Final = "SELECT coalesce(-sum(amount_minor), 0)::bigint FROM ledger_entries WHERE account = $1"


async def find_reward_balance(uow: UnitOfWork, user_id: UUID) -> int:
    """The user's rewards in kobo."""
    balance: int = await uow.fetch_value(_REWARD, buyer_reward(user_id).name)
    return balance
