"""Reads of drills."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from notifications.deliveries.domain.alerts import RESPOND_WITHIN
from notifications.deliveries.responses import Drill

_SHOWN: Final = """
SELECT id, name, runbook, severity, started_by, started_at, seen_at, acknowledged_at, cleared_at, ended_at,
    runbook_steps,
    round(extract(epoch FROM seen_at - started_at))::int AS seconds_to_see,
    round(extract(epoch FROM acknowledged_at - seen_at))::int AS seconds_to_acknowledge,
    round(extract(epoch FROM cleared_at - seen_at))::int AS seconds_to_mend
FROM drills
"""
_COUNT: Final = "SELECT count(*) FROM drills"
_ONE: Final = f"{_SHOWN} WHERE id = $1"
DRILL_SORTS: Final = {"created_at": "started_at"}


async def page_of_drills(uow: UnitOfWork, page: OffsetPage) -> Found[Drill]:
    """Return one page of the drills and their total number."""
    total: int = await uow.fetch_value(_COUNT)
    order = page.order_by(DRILL_SORTS[page.sort], "id")
    rows = await uow.fetch(f"{_SHOWN} {order} LIMIT $1 OFFSET $2", page.limit, page.offset)
    return [Drill.from_row(row, seconds_to_respond=_to_respond(row["severity"])) for row in rows], total


async def get_drill(uow: UnitOfWork, drill_id: UUID) -> Drill:
    """Return a drill. Raises NotFound."""
    row = await uow.fetch_row(_ONE, drill_id)
    if row is None:
        raise NotFound
    return Drill.from_row(row, seconds_to_respond=_to_respond(row["severity"]))


def _to_respond(severity: str) -> int:
    return int(RESPOND_WITHIN[severity].total_seconds())
