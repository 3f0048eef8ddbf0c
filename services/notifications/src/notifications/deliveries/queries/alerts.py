"""Reads of alerts, for pages and for staff."""

from typing import Final, Literal, TypeVar
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from common.web.response_models import Row
from notifications.deliveries import responses
from notifications.deliveries.domain.alerts import DELIVERY_LOST, RESPOND_WITHIN, Alert

_Shown = TypeVar("_Shown", bound=responses.Alert)

_ALERT: Final = """
SELECT id, severity, title, detail, subject, runbook, dedup_key, source, repetitions, last_raised_at, closed_at,
    escalated_at, acknowledged_at, acknowledged_by::text, paged_at IS NOT NULL AS is_paged
FROM alerts WHERE id = $1
"""
_SHOWN: Final = f"""
SELECT id, severity, title, detail, subject, runbook, source, repetitions, raised_at, last_raised_at, paged_at,
    closed_at, closed_by, close_reason, starts_with(dedup_key, '{DELIVERY_LOST}') AS is_discardable, acknowledged_at,
    acknowledged_by, assignee_id, escalated_at
FROM alerts
"""
_ALERT_FILTER: Final = "WHERE $1::text IS NULL OR (closed_at IS NULL) = ($1 = 'open')"
_ALERT_COUNT: Final = f"SELECT count(*) FROM alerts {_ALERT_FILTER}"
_ALERT_PAGE: Final = f"""
{_SHOWN} {_ALERT_FILTER}
"""
_ONE_ALERT: Final = f"{_SHOWN} WHERE id = $1"
_ACTIONS: Final = """
SELECT kind, acted_by AS "by", assignee_id, note, acted_at AS "at" FROM alert_actions WHERE alert_id = $1
ORDER BY position LIMIT $2
"""
# An alert that is repeated for a year has about a hundred.
_ACTIONS_MAX: Final = 500
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
        is_escalated=row["escalated_at"] is not None,
        acknowledged_at=iso_or_none(row["acknowledged_at"]),
        acknowledged_by=row["acknowledged_by"],
        is_paged=row["is_paged"],
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
    return [_response(responses.Alert, row) for row in rows], total


async def get_alert_detail(uow: UnitOfWork, alert_id: UUID) -> responses.AlertDetail:
    """Return the alert with its history. Raises NotFound for one that the caller does not see."""
    row = await uow.fetch_row(_ONE_ALERT, alert_id)
    if row is None:
        raise NotFound
    actions = [responses.AlertAction.from_row(act) for act in await uow.fetch(_ACTIONS, alert_id, _ACTIONS_MAX)]
    return _response(responses.AlertDetail, row, actions=actions)


def _response(model: type[_Shown], row: Row, **more: object) -> _Shown:
    """Return the alert with its time to respond, an ISO 8601 instant."""
    return model.from_row(row, respond_by=iso(row["raised_at"] + RESPOND_WITHIN[row["severity"]]), **more)
