"""Keep an alert, and page the people on call unless they know."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.observability.telemetry import STALE_EVENTS
from contracts.operations import AlertRaised
from notifications import store
from notifications.domain.alerts import Alert, PageNow, evaluate_repetition

log: Final = get_logger(__name__)


async def record_alert(uow: UnitOfWork, alert: Alert, raised_at: datetime, now: datetime) -> None:
    """Writes an alert to the log and to the list; a repetition of an open one counts there (contract section 12).

    One that was raised before the alert of its key was closed arrives late: it is over.
    """
    closed_at = await store.find_last_closing(uow, alert.dedup_key)
    if closed_at is not None and raised_at <= closed_at:
        STALE_EVENTS.labels(AlertRaised.TYPE).inc()
        return
    log.error(
        "alert raised",
        severity=alert.severity,
        title=alert.title,
        detail=alert.detail,
        runbook=alert.runbook,
        about=alert.about,
        source=alert.source,
        dedup_key=alert.dedup_key,
    )
    if await store.record_alert_if_new(uow, alert, raised_at):
        store.leave_page(uow, UUID(alert.alert_id))
        return
    standing = await store.lock_open_alert(uow, alert.dedup_key)
    if standing is None:
        raise AlertClosedMeanwhile(alert.dedup_key)
    await store.save_repetition(uow, standing["id"], alert, raised_at)
    verdict = evaluate_repetition(
        was_severity=standing["severity"], was_paged_at=standing["paged_at"], severity=alert.severity, now=now
    )
    if isinstance(verdict, PageNow):
        store.leave_page(uow, standing["id"])


class AlertClosedMeanwhile(Exception):
    """The open alert was closed between two statements; the ladder's next try records a new one."""
