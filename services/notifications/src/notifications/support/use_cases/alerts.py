"""The alert about a dead webhook of the messaging app, and its clearing."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.alerts import Alerts
from notifications.support.domain.messaging_webhook import dead_letter_alert_key

_ALERTS: Final = Alerts("notifications")


def alert_dead_webhook(uow: UnitOfWork, dead_letter_id: UUID, event_type: str, detail: str) -> None:
    """Raise SEV-2, one alert for each dead letter."""
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        f"Webhook of the messaging app failed: {event_type}",
        detail,
        runbook="dead-letter-webhooks",
        key=dead_letter_alert_key(dead_letter_id),
        about=str(dead_letter_id),
    )


def clear_dead_webhook(uow: UnitOfWork, dead_letter_id: UUID, reason: str) -> None:
    """Clear the alert of a replayed, closed or erased dead letter."""
    _ALERTS.clear_alert(uow, dead_letter_alert_key(dead_letter_id), reason)
