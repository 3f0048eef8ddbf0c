"""Record an alert and page the on-call staff."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from notifications.deliveries.domain.alerts import Alert, PageNow, evaluate_repetition
from notifications.deliveries.store import alerts

log: Final = get_logger(__name__)


async def record_alert(uow: UnitOfWork, alert: Alert, raised_at: datetime, now: datetime) -> bool:
    """Log and store an alert; count a repetition of an open one (contract section 12).

    False, without an effect, when it was raised before the last closing of its key.
    """
    closed_at = await alerts.find_last_closed_at(uow, alert.dedup_key)
    if closed_at is not None and raised_at <= closed_at:
        return False
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
    if await alerts.record_alert_if_new(uow, alert, raised_at):
        alerts.enqueue_page(uow, UUID(alert.alert_id))
        return True
    open_alert = await alerts.lock_open_alert(uow, alert.dedup_key)
    if open_alert is None:
        raise AlertClosedMeanwhile(alert.dedup_key)
    await alerts.save_repetition(uow, open_alert.id, alert, raised_at)
    verdict = evaluate_repetition(
        was_severity=open_alert.severity, was_paged_at=open_alert.paged_at, severity=alert.severity, now=now
    )
    if isinstance(verdict, PageNow):
        alerts.enqueue_page(uow, open_alert.id)
    return True


class AlertClosedMeanwhile(Exception):
    """The open alert was closed between two statements; the retry records a new one."""
