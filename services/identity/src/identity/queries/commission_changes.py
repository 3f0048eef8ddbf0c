"""Commission changes, for the platform's administrators and auditors."""

from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from identity.domain.commission_changes import CommissionChange
from identity.responses import commission_changes as responses

_CHANGE: Final = """
SELECT id, vendor_id, before_basis_points, basis_points AS commission_basis_points, prepared_by, expires_at,
       shown_status AS status, prepared_at, decided_by, decided_at, rejection AS rejection_reason
FROM commission_changes, LATERAL (
    SELECT CASE WHEN status = 'prepared' AND expires_at <= $1 THEN 'expired' ELSE status END AS shown_status
) AS shown
"""
_FILTER: Final = "WHERE ($2::text IS NULL OR shown_status = $2) AND ($3::uuid IS NULL OR vendor_id = $3)"
# $1 is the present time. Neither who prepared a change nor the vendor approves it.
AWAITING_CHANGE: Final = """
commission_changes.status = 'prepared' AND expires_at > $1 AND prepared_by <> (SELECT app_user_id())
AND vendor_id IS DISTINCT FROM (SELECT app_vendor_id())
"""
_PAGE: Final = f"{_CHANGE} {_FILTER} {{1}} ORDER BY prepared_at {{0}}, id {{0}} LIMIT $4 OFFSET $5"
_TOTAL: Final = f"SELECT count(*) FROM ({_CHANGE} {_FILTER} {{0}}) AS matching"
_ONE: Final = f"{_CHANGE} WHERE id = $2"


async def page_of_commission_changes(
    uow: UnitOfWork,
    status: str | None,
    vendor_id: UUID | None,
    *,
    awaiting_approval: bool = False,
    now: datetime,
    page: OffsetPage,
) -> Found[responses.CommissionChange]:
    """Return one page and the total; with `awaiting_approval` those that the caller may approve."""
    awaiting = f"AND {AWAITING_CHANGE}" if awaiting_approval else ""
    statement = _PAGE.format("DESC" if page.descending else "ASC", awaiting)
    rows = await uow.fetch(statement, now, status, vendor_id, page.limit, page.offset)
    return [_response(row) for row in rows], await uow.fetch_value(_TOTAL.format(awaiting), now, status, vendor_id)


async def find_commission_change(uow: UnitOfWork, change_id: UUID, *, now: datetime) -> responses.CommissionChange:
    """Raise NotFound."""
    row = await uow.fetch_row(_ONE, now, change_id)
    if row is None:
        raise NotFound
    return _response(row)


def _response(row: asyncpg.Record) -> responses.CommissionChange:
    change = CommissionChange(*list(row.values())[:7])
    return responses.CommissionChange.from_row(row, hash=change.hash)
