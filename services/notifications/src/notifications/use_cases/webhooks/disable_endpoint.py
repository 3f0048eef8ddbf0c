"""Disable an endpoint that does not accept events."""

from datetime import datetime
from typing import Final, Literal

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from notifications.domain.webhooks import ClaimedWebhook, disabled_endpoint_key
from notifications.store import webhooks as store

log = get_logger(__name__)

RUNBOOK: Final = "webhook-endpoint-disabled"
_REASONS: Final = {
    "gone": "it answered 410",
    "failing": "every attempt of the last five days failed",
}


async def disable_endpoint(
    uow: UnitOfWork, claimed: ClaimedWebhook, reason: Literal["gone", "failing"], now: datetime
) -> None:
    """Disable the endpoint, fail its pending deliveries, and raise one alert."""
    if not await store.disable_webhook_endpoint(uow, claimed.endpoint_id, reason, now):
        return
    log.warning("webhook endpoint disabled", endpoint_id=str(claimed.endpoint_id), reason=reason)
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
