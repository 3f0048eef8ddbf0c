"""The alert about a disabled endpoint, and its clearing."""

from typing import Final, Literal

from common.database.unit_of_work import UnitOfWork
from common.messaging.alerts import Alerts
from notifications.webhooks.domain.webhooks import ClaimedWebhook, WebhookEndpoint, disabled_endpoint_key

_ALERTS: Final = Alerts("notifications")
_REASONS: Final = {
    "gone": "it answered 410",
    "failing": "every attempt of the last five days failed",
}


def alert_endpoint_disabled(uow: UnitOfWork, claimed: ClaimedWebhook, reason: Literal["gone", "failing"]) -> None:
    """Raise one alert for the endpoint."""
    owner = "the platform" if claimed.vendor_id is None else f"vendor {claimed.vendor_id}"
    _ALERTS.raise_alert(
        uow,
        "SEV-3",
        "Webhook endpoint disabled",
        f"An endpoint of {owner} no longer receives events: {_REASONS[reason]}.",
        runbook="webhook-endpoint-disabled",
        key=disabled_endpoint_key(claimed.endpoint_id),
        about=str(claimed.endpoint_id),
    )


def clear_endpoint_alert(uow: UnitOfWork, endpoint: WebhookEndpoint, reason: str) -> None:
    """Publish the clearing if the alert was raised: its owner's own decision raises none."""
    if endpoint.disabled_reason in ("gone", "failing"):
        _ALERTS.clear_alert(uow, disabled_endpoint_key(endpoint.id), reason)
