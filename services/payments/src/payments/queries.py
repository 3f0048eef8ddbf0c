"""Reads for GET: SQL to plain dicts in the public shape (contract section 15.8)."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from common.clock import iso, iso_or_none
from common.database import UnitOfWork
from common.http import OffsetPage
from common.problems import NotFound
from payments.domain.accounts import buyer_reward, side_of

Page = tuple[list[dict[str, Any]], int]


def _ordered(page: OffsetPage, columns: dict[str, str], tie: str) -> str:
    """The ORDER BY of an allow-listed sort; the tie-breaker makes the order total."""
    direction = "DESC" if page.descending else "ASC"
    return f"ORDER BY {columns[page.sort]} {direction}, {tie} {direction}"


# --- payments ---------------------------------------------------------------------------------------------------------

_PAYMENT: Final = """
SELECT id, order_id, reference, amount_minor, currency, status, channel, created_at, paid_at FROM payment_intents
"""
# The caller's own and, for staff, everybody's: stated here for the planner, held by the row policy in any case.
_OWN: Final = "(buyer_id = app_user_id() OR app_may('ledger:read'))"


async def page_of_payments(uow: UnitOfWork, page: OffsetPage) -> Page:
    total = await uow.fetch_value(f"SELECT count(*) FROM payment_intents WHERE {_OWN}")
    order = _ordered(page, {"created_at": "created_at"}, "id")
    rows = await uow.fetch(f"{_PAYMENT} WHERE {_OWN} {order} LIMIT $1 OFFSET $2", page.limit, page.offset)
    return [_payment(row) for row in rows], total


async def find_payment(uow: UnitOfWork, payment_id: UUID) -> dict[str, Any]:
    """Raises NotFound."""
    row = await uow.fetch_row(f"{_PAYMENT} WHERE id = $1", payment_id)
    if row is None:
        raise NotFound
    return _payment(row)


def _payment(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "orderId": row["order_id"],
        "reference": row["reference"],
        "amountMinor": row["amount_minor"],
        "currency": row["currency"],
        "status": row["status"],
        "channel": row["channel"],
        "createdAt": iso(row["created_at"]),
        "paidAt": iso_or_none(row["paid_at"]),
    }


def intent_view(intent: asyncpg.Record) -> dict[str, Any]:
    """The answer to `POST /api/payments/intent` (section 7)."""
    return {
        "id": intent["id"],
        "orderId": intent["order_id"],
        "reference": intent["reference"],
        "amountMinor": intent["amount_minor"],
        "currency": intent["currency"],
        "status": intent["status"],
        "authorizationUrl": intent["authorization_url"],
        "accessCode": intent["access_code"],
        "expiresAt": iso(intent["expires_at"]),
    }


# --- the book ---------------------------------------------------------------------------------------------------------

_AMOUNT: Final = """
(SELECT sum(amount_minor) FROM ledger_entries e WHERE e.transaction_id = t.id AND amount_minor > 0)
"""
_ENTRIES: Final = """
SELECT transaction_id, account, amount_minor FROM ledger_entries WHERE transaction_id = ANY ($1::uuid[]) ORDER BY position
"""


async def page_of_transactions(uow: UnitOfWork, page: OffsetPage) -> Page:
    """Transactions with their entries, debit positive."""
    total = await uow.fetch_value("SELECT count(*) FROM ledger_transactions")
    order = _ordered(page, {"created_at": "t.created_at", "amount": _AMOUNT}, "t.position")
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
    order = _ordered(page, {"created_at": "min(position)"}, "account")
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


# --- what waits for people --------------------------------------------------------------------------------------------


async def page_of_quarantined_charges(uow: UnitOfWork, page: OffsetPage) -> Page:
    total = await uow.fetch_value("SELECT count(*) FROM quarantined_charges")
    order = _ordered(page, {"created_at": "created_at"}, "id")
    rows = await uow.fetch(
        f"""
        SELECT id, reference, order_id, amount_minor, currency, reason, status, created_at FROM quarantined_charges
        {order} LIMIT $1 OFFSET $2
        """,
        page.limit,
        page.offset,
    )
    return [
        {
            "id": row["id"],
            "reference": row["reference"],
            "orderId": row["order_id"],
            "amountMinor": row["amount_minor"],
            "currency": row["currency"],
            "reason": row["reason"],
            "status": row["status"],
            "createdAt": iso(row["created_at"]),
        }
        for row in rows
    ], total


async def page_of_dead_webhooks(uow: UnitOfWork, page: OffsetPage) -> Page:
    total = await uow.fetch_value("SELECT count(*) FROM dead_letter_webhooks")
    order = _ordered(page, {"created_at": "d.failed_at"}, "d.id")
    rows = await uow.fetch(
        f"""
        SELECT d.id, d.webhook_id, d.event_type, d.error, d.attempts, d.failed_at, d.replayed_at, w.outcome
        FROM dead_letter_webhooks d JOIN processed_webhook_events w ON w.id = d.webhook_id
        {order} LIMIT $1 OFFSET $2
        """,
        page.limit,
        page.offset,
    )
    return [
        {
            "id": row["id"],
            "service": "payments",
            "eventId": row["webhook_id"],
            "eventType": row["event_type"],
            "error": row["error"],
            "attempts": row["attempts"],
            "outcome": row["outcome"],
            "failedAt": iso(row["failed_at"]),
            "replayedAt": iso_or_none(row["replayed_at"]),
        }
        for row in rows
    ], total
