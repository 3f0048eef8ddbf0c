"""Quarantined charges with their newest decision."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.domain.decisions import QuarantineDecision
from payments.domain.quarantine import QuarantineStep

# Only the newest decision counts; the earlier ones were rejected.
_CHARGE: Final = """
SELECT q.id, q.reference, q.order_id, number_of_order(q.order_id) AS order_number,
       q.amount_minor, q.currency, q.reason, q.status, q.refund_id, q.created_at,
       d.id AS decision_id, d.outcome, d.reason AS decision_reason, d.status AS decision_status, d.prepared_by, d.prepared_at, d.decided_by,
       d.decided_at, d.rejection
FROM quarantined_charges q LEFT JOIN LATERAL (
    SELECT * FROM quarantine_decisions WHERE quarantined_charge_id = q.id ORDER BY prepared_at DESC, id DESC LIMIT 1
) d ON true
"""
_FILTER: Final = "($1::text IS NULL OR q.status = $1)"
AWAITING_CHARGES: Final[Mapping[QuarantineStep, str]] = {
    "preparation": "q.status = 'quarantined'",
    "approval": """q.status = 'prepared' AND EXISTS (
        SELECT FROM quarantine_decisions w
        WHERE w.quarantined_charge_id = q.id AND w.status = 'prepared' AND w.prepared_by <> (SELECT app_user_id())
    )""",
}


async def page_of_quarantined_charges(
    uow: UnitOfWork, page: OffsetPage, status: str | None, awaiting: QuarantineStep | None = None
) -> Found[dict[str, Any]]:
    """Quarantined charges by status, and those that await a step of the caller."""
    where = f"WHERE {_FILTER} AND {AWAITING_CHARGES[awaiting] if awaiting else 'true'}"
    total = await uow.fetch_value(f"SELECT count(*) FROM quarantined_charges q {where}", status)
    order = page.order_by({"created_at": "q.created_at"}[page.sort], "q.id")
    rows = await uow.fetch(f"{_CHARGE} {where} {order} LIMIT $2 OFFSET $3", status, page.limit, page.offset)
    return [_charge(row) for row in rows], total


async def find_quarantined_charge(uow: UnitOfWork, charge_id: UUID) -> dict[str, Any]:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_CHARGE} WHERE q.id = $1", charge_id)
    if row is None:
        raise NotFound
    return _charge(row)


def _charge(row: asyncpg.Record) -> dict[str, Any]:
    prepared_hash = _hash_of(row)
    return {
        "id": row["id"],
        "reference": row["reference"],
        "orderId": row["order_id"],
        "orderNumber": row["order_number"],
        "amountMinor": row["amount_minor"],
        "currency": row["currency"],
        "reason": row["reason"],
        # Every quarantined charge is one (specification: Lifecycle rules).
        "fraudFlag": True,
        "status": row["status"],
        "refundId": row["refund_id"],
        "createdAt": iso(row["created_at"]),
        "hash": prepared_hash,
        "decision": None if prepared_hash is None else {"outcome": row["outcome"], **decision_view(row, prepared_hash)},
    }


def _hash_of(row: asyncpg.Record) -> str | None:
    if row["decision_id"] is None:
        return None
    return QuarantineDecision(
        row["decision_id"],
        row["id"],
        row["reference"],
        row["amount_minor"],
        row["currency"],
        row["outcome"],
        row["decision_reason"],
        row["prepared_by"],
    ).hash


def decision_view(row: asyncpg.Record, prepared_hash: str) -> dict[str, Any]:
    """Maker, checker and state of the newest decision in a row."""
    return {
        "hash": prepared_hash,
        "status": row["decision_status"],
        "reason": row["decision_reason"],
        "preparedBy": row["prepared_by"],
        "preparedAt": iso(row["prepared_at"]),
        "decidedBy": row["decided_by"],
        "decidedAt": iso_or_none(row["decided_at"]),
        "rejectionReason": row["rejection"],
    }
