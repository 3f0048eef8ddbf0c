"""Refunds: the buyer's own, and all for finance, support and auditors."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.domain.decisions import RefundDecision
from payments.domain.destinations import names_match
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RefundStep
from payments.queries.quarantine import decision_view

_REFUND: Final = """
SELECT f.id, f.order_id, number_of_order(f.order_id) AS order_number,
       f.kind, f.amount_minor, f.currency, f.status, f.reason AS why, f.failure,
       f.needs_account_at IS NOT NULL AS needs_account, f.attempt_id, f.created_at,
       f.settled_at, d.id AS decision_id, d.action, d.reason AS decision_reason, d.status AS decision_status, d.prepared_by, d.prepared_at,
       d.decided_by, d.decided_at, d.rejection, d.recipient_code, d.account_last4, d.bank_code, d.account_name, d.name_at_bank
FROM refunds f LEFT JOIN LATERAL (
    SELECT * FROM refund_decisions WHERE refund_id = f.id ORDER BY prepared_at DESC, id DESC LIMIT 1
) d ON true
"""
# The caller's own refunds, and all for staff. The row policy enforces it; the planner needs it here.
_OWN: Final = """
(f.buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('refunds:read') OR app_may('refunds:prepare')
    OR app_may('refunds:approve'))
"""
_FILTER: Final = f"""
{_OWN} AND ($1::text IS NULL OR f.status = $1) AND ($2::text IS NULL OR f.kind = $2) AND ($3::uuid IS NULL OR f.order_id = $3)
"""
AWAITING_REFUNDS: Final[Mapping[RefundStep, str]] = {
    "preparation": "f.status = 'failed' AND f.kind <> 'outside'",
    "approval": """(f.status = 'prepared' OR f.kind = 'outside') AND EXISTS (
        SELECT FROM refund_decisions w
        WHERE w.refund_id = f.id AND w.status = 'prepared' AND w.prepared_by <> (SELECT app_user_id())
    )""",
}
_SORTS: Final = {"created_at": "f.created_at", "amount": "f.amount_minor"}


async def page_of_refunds(
    uow: UnitOfWork,
    page: OffsetPage,
    status: str | None,
    kind: str | None,
    order_id: UUID | None,
    awaiting: RefundStep | None = None,
) -> Found[dict[str, Any]]:
    """Refunds by status, kind and order, and those that await a step of the caller."""
    filters = (status, kind, order_id)
    where = f"WHERE {_FILTER} AND {AWAITING_REFUNDS[awaiting] if awaiting else 'true'}"
    total = await uow.fetch_value(f"SELECT count(*) FROM refunds f {where}", *filters)
    order = page.order_by(_SORTS[page.sort], "f.id")
    rows = await uow.fetch(f"{_REFUND} {where} {order} LIMIT $4 OFFSET $5", *filters, page.limit, page.offset)
    return [_refund(row) for row in rows], total


async def find_refund(uow: UnitOfWork, refund_id: UUID) -> dict[str, Any]:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_REFUND} WHERE f.id = $1", refund_id)
    if row is None:
        raise NotFound
    return _refund(row)


def _refund(row: asyncpg.Record) -> dict[str, Any]:
    prepared_hash = _hash_of(row)
    return {
        "id": row["id"],
        "orderId": row["order_id"],
        "orderNumber": row["order_number"],
        "kind": row["kind"],
        "amountMinor": row["amount_minor"],
        "currency": row["currency"],
        "status": row["status"],
        "reason": row["why"],
        "failure": row["failure"],
        "needsAccount": row["needs_account"],
        "reference": refund_reference(row["attempt_id"]),
        "createdAt": iso(row["created_at"]),
        "settledAt": iso_or_none(row["settled_at"]),
        "hash": prepared_hash,
        "decision": None
        if prepared_hash is None
        else {"action": row["action"], **decision_view(row, prepared_hash), "destination": _destination(row)},
    }


def _hash_of(row: asyncpg.Record) -> str | None:
    if row["decision_id"] is None:
        return None
    return RefundDecision(
        row["decision_id"],
        row["id"],
        row["amount_minor"],
        row["currency"],
        row["action"],
        row["decision_reason"],
        row["prepared_by"],
        row["recipient_code"],
        row["account_last4"],
        row["bank_code"],
        row["account_name"],
        row["name_at_bank"],
    ).hash


def _destination(row: asyncpg.Record) -> dict[str, Any] | None:
    if row["account_last4"] is None:
        return None
    return {
        "last4": row["account_last4"],
        "bankCode": row["bank_code"],
        "accountName": row["account_name"],
        "nameAtBank": row["name_at_bank"],
        "verified": names_match(row["account_name"], row["name_at_bank"]),
    }
