"""Alerts for staff on call, raised and cleared by the transaction that finds or removes their cause."""

from dataclasses import dataclass

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from contracts.severities import Severity


@dataclass(frozen=True, slots=True)
class Alerts:
    """The alerts of one service. One is open for each key."""

    service: str

    def raise_alert(
        self,
        uow: UnitOfWork,
        severity: Severity,
        title: str,
        detail: str,
        *,
        runbook: str,
        key: str,
        about: str | None = None,
    ) -> None:
        """Publish an alert. Another one with the same key joins it until it is cleared."""
        alert = AlertRaised(
            alert_id=new_id(),
            severity=severity,
            title=title,
            detail=detail,
            runbook=runbook,
            dedup_key=key,
            about=about,
        )
        uow.publish(alert, source=self.service)

    def clear_alert(self, uow: UnitOfWork, key: str, reason: str) -> None:
        """Publish that the cause of the open alert is gone."""
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key, reason=reason), source=self.service)
