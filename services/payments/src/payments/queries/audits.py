"""Recorded audits with their findings."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.responses.audits import Audit

_AUDIT: Final = """
SELECT a.id, a.started_at, a.finished_at, a.verdict, a.gateway_reason IS NULL AS gateway_compared, a.gateway_reason, (
    SELECT coalesce(jsonb_agg(
        jsonb_build_object(
            'check', f.check_name, 'kind', f.kind, 'subject', f.subject, 'expected', f.expected, 'actual', f.actual
        ) ORDER BY f.position
    ), '[]') FROM audit_findings f WHERE f.audit_id = a.id
) AS findings
FROM audits a
"""
_FILTER: Final = "WHERE ($1::text IS NULL OR a.verdict = $1)"


async def page_of_audits(uow: UnitOfWork, page: OffsetPage, verdict: str | None) -> Found[Audit]:
    """Audits by verdict."""
    total = await uow.fetch_value(f"SELECT count(*) FROM audits a {_FILTER}", verdict)
    order = page.order_by("a.started_at", "a.id")
    rows = await uow.fetch(f"{_AUDIT} {_FILTER} {order} LIMIT $2 OFFSET $3", verdict, page.limit, page.offset)
    return [Audit.from_row(row) for row in rows], total


async def find_audit(uow: UnitOfWork, audit_id: UUID) -> Audit:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_AUDIT} WHERE a.id = $1", audit_id)
    if row is None:
        raise NotFound
    return Audit.from_row(row)
