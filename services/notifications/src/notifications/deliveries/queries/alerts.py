"""Reads of alerts, for pages and for staff."""

from typing import Final, Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.web.pages import Found, OffsetPage
from notifications.deliveries import responses
from notifications.deliveries.domain.alerts import Alert

_ALERT: Final = """
SELECT id, severity, title, detail, subject, runbook, dedup_key, source, repetitions, last_raised_at, closed_at
FROM alerts WHERE id = $1
"""
_ALERT_FILTER: Final = "WHERE $1::text IS NULL OR (closed_at IS NULL) = ($1 = 'open')"
_ALERT_COUNT: Final = f"SELECT count(*) FROM alerts {_ALERT_FILTER}"
_ALERT_PAGE: Final = f"""
SELECT id, severity, title, detail, subject, runbook, source, repetitions, raised_at, last_raised_at, paged_at,
    closed_at
FROM alerts {_ALERT_FILTER}
"""
# Public sort names and their columns (contract section 1.5). "SEV-1" is the highest severity, so descending starts with
# it.
ALERT_SORTS: Final = {"created_at": "raised_at", "severity": "translate(severity, '123', '321')"}


async def find_alert(uow: UnitOfWork, alert_id: UUID) -> Alert | None:
    """Return an alert for a page; None when it does not exist."""
    row = await uow.fetch_row(_ALERT, alert_id)
    if row is None:
        return None
    return Alert(
        alert_id=str(row["id"]),
        severity=row["severity"],
        title=row["title"],
        detail=row["detail"],
        runbook=row["runbook"],
        dedup_key=row["dedup_key"],
        about=row["subject"],
        source=row["source"],
        raised_at=iso(row["last_raised_at"]),
        closed_at=iso_or_none(row["closed_at"]),
        is_repeated=row["repetitions"] > 0,
    )


async def page_of_alerts(
    uow: UnitOfWork, page: OffsetPage, status: Literal["open", "closed"] | None
) -> Found[responses.Alert]:
    """Return one page of the alerts and their total number."""
    total: int = await uow.fetch_value(_ALERT_COUNT, status)
    rows = await uow.fetch(
        f"{_ALERT_PAGE} {page.order_by(ALERT_SORTS[page.sort], 'id')} LIMIT $2 OFFSET $3",
        status,
        page.limit,
        page.offset,
    )
    return [responses.Alert.from_row(row) for row in rows], total
