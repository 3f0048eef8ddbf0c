"""Payments of a buyer."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import Reads
from common.primitives.clock import iso, iso_or_none
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.store.intents import Intent

_PAYMENT: Final = """
SELECT id, order_id, number_of_order(order_id) AS order_number,
       reference, amount_minor, currency, status, channel, created_at, paid_at, failure_reason FROM payment_intents
"""
# The caller's own payments, and all for staff. The row policy enforces it; the planner needs it here.
_OWN: Final = "(buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'))"
_FILTERS: Final[Mapping[str, str]] = {
    "status": "status = {}",
    "orderId": "order_id = {}",
    "from": "created_at >= {}",
    "to": "created_at < {}",
}


async def page_of_payments(reads: Reads, page: OffsetPage, filters: Mapping[str, Any]) -> Found[dict[str, Any]]:
    """One page of the caller's visible payments; `filters` by their public names."""
    clauses = [_FILTERS[name].format(f"${number}") for number, name in enumerate(filters, start=1)]
    where, values = " AND ".join([_OWN, *clauses]), filters.values()
    total = await reads.fetch_value(f"SELECT count(*) FROM payment_intents WHERE {where}", *values)
    order = page.order_by({"created_at": "created_at"}[page.sort], "id")
    rows = await reads.fetch(f"{_PAYMENT} WHERE {where} {order} LIMIT {page.limit} OFFSET {page.offset}", *values)
    return [_payment(row) for row in rows], total


async def find_payment(reads: Reads, payment_id: UUID) -> dict[str, Any]:
    """Raise NotFound."""
    row = await reads.fetch_row(f"{_PAYMENT} WHERE id = $1", payment_id)
    if row is None:
        raise NotFound
    return _payment(row)


def _payment(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "orderId": row["order_id"],
        "orderNumber": row["order_number"],
        "reference": row["reference"],
        "amountMinor": row["amount_minor"],
        "currency": row["currency"],
        "status": row["status"],
        "channel": row["channel"],
        "createdAt": iso(row["created_at"]),
        "paidAt": iso_or_none(row["paid_at"]),
        # Stored also after a later success, but shown only while the payment is failed.
        "failureReason": row["failure_reason"] if row["status"] == "failed" else None,
    }


def intent_view(intent: Intent) -> dict[str, Any]:
    """Return the response to `POST /api/payments/intent` (contract section 7)."""
    return {
        "id": intent.id,
        "orderId": intent.order_id,
        "reference": intent.reference,
        "amountMinor": intent.amount_minor,
        "currency": intent.currency,
        "status": intent.status,
        "authorizationUrl": intent.authorization_url,
        "accessCode": intent.access_code,
        "expiresAt": iso(intent.expires_at),
    }
