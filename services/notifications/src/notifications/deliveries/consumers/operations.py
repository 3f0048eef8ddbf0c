"""Handlers of alerts, which every service raises."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Outcome, Received, applied_if
from contracts.operations import AlertCleared, AlertRaised
from notifications.deliveries.domain.alerts import Alert
from notifications.deliveries.use_cases.alerts.close_alert import close_alert
from notifications.deliveries.use_cases.alerts.record_alert import record_alert
from notifications.dependencies import Dependencies


async def on_alert_raised(
    event: AlertRaised, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    alert = Alert(
        alert_id=str(event.alert_id),
        severity=event.severity,
        title=event.title,
        detail=event.detail,
        runbook=event.runbook,
        dedup_key=event.dedup_key,
        about=event.about,
        source=received.source.rpartition("/")[2],
        raised_at=received.time,
    )
    is_new = await record_alert(uow, alert, datetime.fromisoformat(received.time), dependencies.clock.now())
    return applied_if(is_new)


async def on_alert_cleared(
    event: AlertCleared, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return applied_if(await close_alert(uow, event.dedup_key, event.reason, datetime.fromisoformat(received.time)))
