"""The book, for auditors and finance."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from common.clock import iso
from common.database import UnitOfWork
from common.http import OffsetPage
from payments.domain.accounts import buyer_reward, side_of
from payments.queries.pages import Page, ordered

_AMOUNT: Final = """
(SELECT sum(amount_minor) FROM ledger_entries e WHERE e.transaction_id = t.id AND amount_minor > 0)
"""
_ENTRIES: Final = """
SELECT transaction_id, account, amount_minor FROM ledger_entries WHERE transaction_id = ANY ($1::uuid[]) ORDER BY position
"""


async def page_of_transactions(uow: UnitOfWork, page: OffsetPage) -> Page:
    """Transactions with their entries, debit positive."""
    total = await uow.fetch_value("SELECT count(*) FROM ledger_transactions")
    order = ordered(page, {"created_at": "t.created_at", "amount": _AMOUNT}, "t.position")
    rows = await uow.fetch(
        f"SELECT t.id, t.type, t.posting_key, t.currency, t.created_at FROM ledger_transactions t {order} LIMIT $1 OFFSET $2",
        page.limit,
        page.offset,
    )
    entries: dict[UUID, list[dict[str, Any]]] = {row["id"]: [] for row in rows}
    for entry in await uow.fetch(_ENTRIES, list(entries)):
        entries[entry["transaction_id"]].append({"account": entry["account"], "amountMinor": entry["amount_minor"]})
    return [_transaction(row, entries[row["id"]]) for row in rows], total


def _transaction(row: asyncpg.Record, entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "type": row["type"],
        "postingKey": row["posting_key"],
        "currency": row["currency"],
        "createdAt": iso(row["created_at"]),
        "entries": entries,
    }


async def page_of_accounts(uow: UnitOfWork, page: OffsetPage) -> Page:
    """Every account that has entries, with their sum, debit positive. An account is as old as its first entry."""
    total = await uow.fetch_value("SELECT count(DISTINCT account) FROM ledger_entries")
    order = ordered(page, {"created_at": "min(position)"}, "account")
    rows = await uow.fetch(
        f"""
        SELECT account, currency, sum(amount_minor)::bigint AS balance_minor FROM ledger_entries
        GROUP BY account, currency {order} LIMIT $1 OFFSET $2
        """,
        page.limit,
        page.offset,
    )
    return [
        {
            "account": row["account"],
            "currency": row["currency"],
            "balanceMinor": row["balance_minor"],
            "side": side_of(row["account"]),
        }
        for row in rows
    ], total


_REWARD: Final = "SELECT coalesce(-sum(amount_minor), 0)::bigint FROM ledger_entries WHERE account = $1"


async def find_reward_balance(uow: UnitOfWork, user_id: UUID) -> int:
    """The user's rewards in kobo."""
    balance: int = await uow.fetch_value(_REWARD, buyer_reward(user_id).name)
    return balance
