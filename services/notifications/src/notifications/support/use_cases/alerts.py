"""The alert about a dead webhook of the messaging app, and its clearing."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.alerts import Alerts
from common.messaging.dead_letters import webhook_alert_key
from notifications.support.store import messaging

_ALERTS: Final = Alerts("notifications")


def alert_dead_webhook(uow: UnitOfWork, dead_letter_id: UUID, event_type: str, detail: str) -> None:
    """Raise SEV-2, one alert for each webhook or item: `dead_letter_id` is its first dead letter."""
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        f"Webhook of the messaging app failed: {event_type}",
        detail,
        runbook="dead-letter-webhooks",
        key=webhook_alert_key(dead_letter_id),
        about=str(dead_letter_id),
    )


async def clear_dead_webhook(uow: UnitOfWork, event_id: str, reason: str) -> None:
    """Clear the alert of a webhook or item that was processed, closed or erased.

    An earlier release raised one for each failure.
    """
    for dead_letter_id in await messaging.list_dead_letter_ids(uow, event_id):
        _ALERTS.clear_alert(uow, webhook_alert_key(dead_letter_id), reason)
