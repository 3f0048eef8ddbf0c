"""Resets of lost second factors, for those who decide on them and auditors."""

from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from identity.domain.factor_resets import FactorReset
from identity.responses import factor_resets as responses

_RESET: Final = """
SELECT id, user_id, reason, prepared_by, prepared_at, expires_at, shown_status AS status, decided_by, decided_at
FROM factor_resets, LATERAL (
    SELECT CASE WHEN status = 'prepared' AND expires_at <= $1 THEN 'expired' ELSE status END AS shown_status
) AS shown
"""
_FILTER: Final = "WHERE ($2::text IS NULL OR shown_status = $2) AND ($3::uuid IS NULL OR user_id = $3)"
# $1 is the present time. Neither who prepared a reset nor its user approves it.
AWAITING_RESET: Final = """
factor_resets.status = 'prepared' AND expires_at > $1 AND prepared_by <> (SELECT app_user_id())
AND user_id <> (SELECT app_user_id())
"""
_PAGE: Final = f"{_RESET} {_FILTER} {{1}} ORDER BY prepared_at {{0}}, id {{0}} LIMIT $4 OFFSET $5"
_TOTAL: Final = f"SELECT count(*) FROM ({_RESET} {_FILTER} {{0}}) AS matching"
_ONE: Final = f"{_RESET} WHERE id = $2"


async def page_of_factor_resets(
    uow: UnitOfWork,
    status: str | None,
    user_id: UUID | None,
    *,
    awaiting_approval: bool = False,
    now: datetime,
    page: OffsetPage,
) -> Found[responses.FactorReset]:
    """Return one page and the total; with `awaiting_approval` those that the caller may approve."""
    awaiting = f"AND {AWAITING_RESET}" if awaiting_approval else ""
    statement = _PAGE.format("DESC" if page.descending else "ASC", awaiting)
    rows = await uow.fetch(statement, now, status, user_id, page.limit, page.offset)
    return [_response(row) for row in rows], await uow.fetch_value(_TOTAL.format(awaiting), now, status, user_id)


async def find_factor_reset(uow: UnitOfWork, reset_id: UUID, *, now: datetime) -> responses.FactorReset:
    """Raise NotFound."""
    row = await uow.fetch_row(_ONE, now, reset_id)
    if row is None:
        raise NotFound
    return _response(row)


def _response(row: asyncpg.Record) -> responses.FactorReset:
    reset = FactorReset(*list(row.values())[:7])
    return responses.FactorReset.from_row(row, hash=reset.hash, waits_until=iso(reset.waits_until))
