"""Reconciliation cases, for finance, auditors and on-call."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.responses.reconciliation import ReconciliationCase

_CASE: Final = """
SELECT id, kind, subject, reference, order_id, number_of_order(order_id) AS order_number,
       ours_minor, theirs_minor, unexplained_minor, currency, detail, status, opened_at AS created_at,
       seen_at AS last_seen_at, closed_at, closed_by, evidence
FROM reconciliation_cases
"""
_FILTER: Final = "($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR kind = $2)"
_SORTS: Final = {"created_at": "opened_at", "amount": "unexplained_minor"}


async def page_of_cases(
    uow: UnitOfWork, page: OffsetPage, status: str | None, kind: str | None
) -> Found[ReconciliationCase]:
    total = await uow.fetch_value(f"SELECT count(*) FROM reconciliation_cases WHERE {_FILTER}", status, kind)
    order = page.order_by(_SORTS[page.sort], "id")
    rows = await uow.fetch(f"{_CASE} WHERE {_FILTER} {order} LIMIT $3 OFFSET $4", status, kind, page.limit, page.offset)
    return [ReconciliationCase.from_row(row) for row in rows], total


async def find_case(uow: UnitOfWork, case_id: UUID) -> ReconciliationCase:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_CASE} WHERE id = $1", case_id)
    if row is None:
        raise NotFound
    return ReconciliationCase.from_row(row)
