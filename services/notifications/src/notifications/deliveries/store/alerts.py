"""Writes of alerts."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple
from uuid import UUID

from common.database.state_changes import change_state
from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.alerts import Alert
from notifications.deliveries.store.queue import DELIVERIES_QUEUE

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
SET repetitions = repetitions + 1, severity = least(severity, $2), detail = $3,
    last_raised_at = greatest(last_raised_at, $4)
WHERE id = $1
"""
_MARK_PAGED: Final = "UPDATE alerts SET paged_at = $2, page_error = NULL WHERE id = $1 RETURNING closed_at"
_CLOSE_ALERT: Final = "UPDATE alerts SET closed_at = $2 WHERE id = $1"
_LOCK_ALERT: Final = "SELECT dedup_key, closed_at, closed_by, close_reason FROM alerts WHERE id = $1 FOR UPDATE"
_CLOSE_BY: Final = """
UPDATE alerts SET closed_at = $2, closed_by = $3, close_reason = $4 WHERE id = $1 AND closed_at IS NULL
"""
_CLOSE_REMOVED: Final = """
UPDATE alerts SET closed_at = $1, close_reason = $2
WHERE closed_at IS NULL AND starts_with(dedup_key, $3) AND last_raised_at < $4 RETURNING id
"""
_LAST_CLOSED_AT: Final = "SELECT max(closed_at) FROM alerts WHERE dedup_key = $1"
_CLAIM_OPEN: Final = """
UPDATE alerts SET paged_at = $1 WHERE id IN (
    SELECT id FROM alerts WHERE closed_at IS NULL AND paged_at <= $2 ORDER BY paged_at LIMIT $3 FOR UPDATE SKIP LOCKED
) RETURNING id
"""
_MARK_PAGE_FAILED: Final = "UPDATE alerts SET page_error = $2 WHERE id = $1"

_ACKNOWLEDGE: Final = """
UPDATE alerts SET acknowledged_at = $2, acknowledged_by = $3, assignee_id = coalesce(assignee_id, $3)
WHERE id = $1 AND acknowledged_at IS NULL AND closed_at IS NULL
"""
_ASSIGN: Final = """
UPDATE alerts SET assignee_id = $2 WHERE id = $1 AND assignee_id IS DISTINCT FROM $2 AND closed_at IS NULL
"""
_RECORD_ACTION: Final = """
INSERT INTO alert_actions (alert_id, kind, acted_by, assignee_id, note, acted_at) VALUES ($1, $2, $3, $4, $5, $6)
"""
# One worker escalates each; the times by severity are pairs of the arrays.
_ESCALATE: Final = """
WITH due AS (
    SELECT id FROM alerts
    WHERE closed_at IS NULL AND acknowledged_at IS NULL AND escalated_at IS NULL
      AND raised_at <= $1::timestamptz - ($3::interval[])[array_position($2::text[], severity)]
    ORDER BY raised_at LIMIT $4 FOR UPDATE SKIP LOCKED
), escalated AS (
    UPDATE alerts SET escalated_at = $1::timestamptz FROM due WHERE alerts.id = due.id RETURNING alerts.id
), recorded AS (
    INSERT INTO alert_actions (alert_id, kind, acted_at) SELECT id, 'escalated', $1::timestamptz FROM escalated
)
SELECT id FROM escalated
"""


class AlertAction(NamedTuple):
    """A line of the history by a member of staff."""

    kind: Literal["acknowledged", "assigned", "noted"]
    assignee_id: UUID | None = None
    note: str | None = None


class LockedAlert(NamedTuple):
    """A locked alert, with the member of staff who closed it, if one did."""

    dedup_key: str
    closed_at: datetime | None
    closed_by: UUID | None
    close_reason: str | None


class OpenAlert(NamedTuple):
    id: UUID
    severity: str
    paged_at: datetime | None
    last_raised_at: datetime


def enqueue_page(uow: UnitOfWork, alert_id: UUID) -> None:
    uow.enqueue_work(DELIVERIES_QUEUE, alert_id, {"alertId": str(alert_id)})


def enqueue_acknowledgement(uow: UnitOfWork, alert_id: UUID) -> None:
    uow.enqueue_work(DELIVERIES_QUEUE, alert_id, {"alertId": str(alert_id), "isAcknowledgement": True})


async def lock_open_alert(uow: UnitOfWork, dedup_key: str) -> OpenAlert | None:
    """Lock the open alert of that key."""
    row = await uow.fetch_row(_LOCK_OPEN_ALERT, dedup_key)
    return None if row is None else OpenAlert(*row)


async def record_alert_if_new(uow: UnitOfWork, alert: Alert, raised_at: datetime) -> bool:
    """Return whether the alert is new: no open one has its key. A concurrent insert waits for the first to commit."""
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
    """Count a repetition and keep the highest severity, which is the smallest number."""
    await uow.execute(_REPEAT_ALERT, alert_id, alert.severity, alert.detail, raised_at)


async def save_paged(uow: UnitOfWork, alert_id: UUID, now: datetime) -> bool:
    """Record the page; return whether the alert is still open."""
    closed_at: datetime | None = await uow.fetch_value(_MARK_PAGED, alert_id, now)
    return closed_at is None


async def claim_open_alerts(uow: UnitOfWork, now: datetime, paged_before: datetime, rows_max: int) -> list[UUID]:
    """Claim open alerts that were last paged before `paged_before`, so that one worker pages each."""
    return [alert_id for (alert_id,) in await uow.fetch(_CLAIM_OPEN, now, paged_before, rows_max)]


async def save_alert_closed(uow: UnitOfWork, alert_id: UUID, at: datetime) -> None:
    await uow.execute(_CLOSE_ALERT, alert_id, at)


async def close_alerts_raised_before(
    uow: UnitOfWork, now: datetime, reason: str, key_prefix: str, raised_before: datetime
) -> list[UUID]:
    """Close the open alerts of these keys that were last raised before then, without a person; return them."""
    return [row["id"] for row in await uow.fetch(_CLOSE_REMOVED, now, reason, key_prefix, raised_before)]


async def lock_alert(uow: UnitOfWork, alert_id: UUID) -> LockedAlert | None:
    row = await uow.fetch_row(_LOCK_ALERT, alert_id)
    return None if row is None else LockedAlert(*row)


async def save_alert_closed_by(uow: UnitOfWork, alert_id: UUID, at: datetime, by: UUID, reason: str) -> None:
    """Close an open alert by a member of staff."""
    await change_state(uow, _CLOSE_BY, alert_id, at, by, reason)


async def find_last_closed_at(uow: UnitOfWork, dedup_key: str) -> datetime | None:
    """Return the last closing time of the alerts of that key."""
    at: datetime | None = await uow.fetch_value(_LAST_CLOSED_AT, dedup_key)
    return at


async def save_page_failed(uow: UnitOfWork, alert_id: UUID, error: str) -> None:
    await uow.execute(_MARK_PAGE_FAILED, alert_id, error)


async def save_acknowledged(uow: UnitOfWork, alert_id: UUID, user_id: UUID, now: datetime) -> bool:
    """Acknowledge an open alert and assign it where it has no assignee; return whether it was not acknowledged."""
    return bool(await uow.execute(_ACKNOWLEDGE, alert_id, now, user_id))


async def save_assignee(uow: UnitOfWork, alert_id: UUID, assignee_id: UUID | None) -> bool:
    """Change the assignee of an open alert; return whether it was another."""
    return bool(await uow.execute(_ASSIGN, alert_id, assignee_id))


async def record_action(uow: UnitOfWork, alert_id: UUID, act: AlertAction, user_id: UUID, now: datetime) -> None:
    """Add a line to the history of an alert."""
    await uow.execute(_RECORD_ACTION, alert_id, act.kind, user_id, act.assignee_id, act.note, now)


async def claim_unacknowledged_alerts(
    uow: UnitOfWork, now: datetime, after: Mapping[str, timedelta], rows_max: int
) -> list[UUID]:
    """Mark open alerts as escalated that were not acknowledged within the time of their severity."""
    return [alert_id for (alert_id,) in await uow.fetch(_ESCALATE, now, list(after), list(after.values()), rows_max)]
