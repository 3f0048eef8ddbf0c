"""The alert about a disabled endpoint, and its clearing."""

from typing import Final, Literal

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from notifications.webhooks.domain.webhooks import ClaimedWebhook, WebhookEndpoint, disabled_endpoint_key

RUNBOOK: Final = "webhook-endpoint-disabled"
_REASONS: Final = {
    "gone": "it answered 410",
    "failing": "every attempt of the last five days failed",
}


def alert_endpoint_disabled(uow: UnitOfWork, claimed: ClaimedWebhook, reason: Literal["gone", "failing"]) -> None:
    """Raise one alert for the endpoint."""
    owner = "the platform" if claimed.vendor_id is None else f"vendor {claimed.vendor_id}"
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-3",
            title="Webhook endpoint disabled",
            detail=f"An endpoint of {owner} no longer receives events: {_REASONS[reason]}.",
            runbook=RUNBOOK,
            dedup_key=disabled_endpoint_key(claimed.endpoint_id),
            about=str(claimed.endpoint_id),
        ),
        source="notifications",
    )


def clear_endpoint_alert(uow: UnitOfWork, endpoint: WebhookEndpoint, reason: str) -> None:
    """Publish the clearing if the alert was raised: its owner's own decision raises none."""
    if endpoint.disabled_reason in ("gone", "failing"):
        key = disabled_endpoint_key(endpoint.id)
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key, reason=reason), source="notifications")
