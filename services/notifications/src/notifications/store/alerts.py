"""The alerts: SQL by name, without decisions."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.domain.alerts import Alert
from notifications.store.queue import DELIVERIES_QUEUE

_LOCK_OPEN_ALERT: Final = """
SELECT id, severity, paged_at, last_raised_at FROM alerts WHERE dedup_key = $1 AND closed_at IS NULL FOR UPDATE
"""
_RECORD_ALERT: Final = """
INSERT INTO alerts (id, severity, title, detail, subject, runbook, dedup_key, source, raised_at, last_raised_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
ON CONFLICT (dedup_key) WHERE closed_at IS NULL DO NOTHING
"""
_REPEAT_ALERT: Final = """
UPDATE alerts
SET repetitions = repetitions + 1, severity = least(severity, $2), detail = $3, last_raised_at = greatest(last_raised_at, $4)
WHERE id = $1
"""
_MARK_PAGED: Final = "UPDATE alerts SET paged_at = $2, page_error = NULL WHERE id = $1 RETURNING closed_at"
_CLOSE_ALERT: Final = "UPDATE alerts SET closed_at = $2 WHERE id = $1"
_LAST_CLOSING: Final = "SELECT max(closed_at) FROM alerts WHERE dedup_key = $1"
_CLAIM_OPEN: Final = """
UPDATE alerts SET paged_at = $1 WHERE id IN (
    SELECT id FROM alerts WHERE closed_at IS NULL AND paged_at <= $2 ORDER BY paged_at LIMIT $3 FOR UPDATE SKIP LOCKED
) RETURNING id
"""
_MARK_PAGE_FAILED: Final = "UPDATE alerts SET page_error = $2 WHERE id = $1"


def leave_page(uow: UnitOfWork, alert_id: UUID) -> None:
    """Leaves the paging of an alert to the worker."""
    uow.enqueue_work(DELIVERIES_QUEUE, alert_id, {"alertId": str(alert_id)})


async def lock_open_alert(uow: UnitOfWork, dedup_key: str) -> Any:
    """The open alert of that key, locked; None when there is none."""
    return await uow.fetch_row(_LOCK_OPEN_ALERT, dedup_key)


async def record_alert_if_new(uow: UnitOfWork, alert: Alert, raised_at: datetime) -> bool:
    """Whether the alert is new: no open one has its key. Two at once: the second waits for the first to commit or fail."""
    return bool(
        await uow.execute(
            _RECORD_ALERT,
            UUID(alert.alert_id),
            alert.severity,
            alert.title,
            alert.detail,
            alert.about,
            alert.runbook,
            alert.dedup_key,
            alert.source,
            raised_at,
        )
    )


async def save_repetition(uow: UnitOfWork, alert_id: UUID, alert: Alert, raised_at: datetime) -> None:
    """Counts a repetition; the worst severity (the smallest number) stays."""
    await uow.execute(_REPEAT_ALERT, alert_id, alert.severity, alert.detail, raised_at)


async def save_paged(uow: UnitOfWork, alert_id: UUID, now: datetime) -> bool:
    """Whether the alert is still open now that the page has gone out."""
    closed_at: datetime | None = await uow.fetch_value(_MARK_PAGED, alert_id, now)
    return closed_at is None


async def claim_open_alerts(uow: UnitOfWork, now: datetime, said_before: datetime, rows_max: int) -> list[UUID]:
    """The open alerts that were said last before that moment, marked as said now, so that one worker says each."""
    return [row["id"] for row in await uow.fetch(_CLAIM_OPEN, now, said_before, rows_max)]


async def save_alert_closed(uow: UnitOfWork, alert_id: UUID, at: datetime) -> None:
    await uow.execute(_CLOSE_ALERT, alert_id, at)


async def find_last_closing(uow: UnitOfWork, dedup_key: str) -> datetime | None:
    """When an alert of that key was closed last; None when none ever was."""
    at: datetime | None = await uow.fetch_value(_LAST_CLOSING, dedup_key)
    return at


async def save_page_failed(uow: UnitOfWork, alert_id: UUID, error: str) -> None:
    await uow.execute(_MARK_PAGE_FAILED, alert_id, error)
