"""Reconciliation cases, for finance, auditors and on-call."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage

_CASE: Final = """
SELECT id, kind, subject, reference, order_id, number_of_order(order_id) AS order_number,
       ours_minor, theirs_minor, unexplained_minor, currency, detail, status, opened_at,
       seen_at, closed_at, closed_by, evidence
FROM reconciliation_cases
"""
_FILTER: Final = "($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR kind = $2)"
_SORTS: Final = {"created_at": "opened_at", "amount": "unexplained_minor"}


async def page_of_cases(
    uow: UnitOfWork, page: OffsetPage, status: str | None, kind: str | None
) -> Found[dict[str, Any]]:
    total = await uow.fetch_value(f"SELECT count(*) FROM reconciliation_cases WHERE {_FILTER}", status, kind)
    order = page.order_by(_SORTS[page.sort], "id")
    rows = await uow.fetch(f"{_CASE} WHERE {_FILTER} {order} LIMIT $3 OFFSET $4", status, kind, page.limit, page.offset)
    return [_case(row) for row in rows], total


async def find_case(uow: UnitOfWork, case_id: UUID) -> dict[str, Any]:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_CASE} WHERE id = $1", case_id)
    if row is None:
        raise NotFound
    return _case(row)


def _case(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": row["kind"],
        "subject": row["subject"],
        "reference": row["reference"],
        "orderId": row["order_id"],
        "orderNumber": row["order_number"],
        "oursMinor": row["ours_minor"],
        "theirsMinor": row["theirs_minor"],
        "unexplainedMinor": row["unexplained_minor"],
        "currency": row["currency"],
        "detail": row["detail"],
        "status": row["status"],
        "createdAt": iso(row["opened_at"]),
        "lastSeenAt": iso(row["seen_at"]),
        "closedAt": iso_or_none(row["closed_at"]),
        "closedBy": row["closed_by"],
        "evidence": row["evidence"],
    }
