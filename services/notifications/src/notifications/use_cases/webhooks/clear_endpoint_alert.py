"""Clear the alert about a disabled endpoint."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from notifications.domain.webhooks import WebhookEndpoint, disabled_endpoint_key


def clear_endpoint_alert(uow: UnitOfWork, endpoint: WebhookEndpoint, reason: str) -> None:
    """Publish the clearing if the alert was raised: its owner's own decision raises none."""
    if endpoint.disabled_reason in ("gone", "failing"):
        key = disabled_endpoint_key(endpoint.id)
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key, reason=reason), source="notifications")
