"""Disable an endpoint that does not accept events."""

from datetime import datetime
from typing import Literal

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from notifications.webhooks import store
from notifications.webhooks.domain.webhooks import ClaimedWebhook
from notifications.webhooks.use_cases.alerts import alert_endpoint_disabled

log = get_logger(__name__)


async def disable_endpoint(
    uow: UnitOfWork, claimed: ClaimedWebhook, reason: Literal["gone", "failing"], now: datetime
) -> None:
    """Disable the endpoint, fail its pending deliveries, and raise one alert."""
    if not await store.disable_webhook_endpoint(uow, claimed.endpoint_id, reason, now):
        return
    log.warning("webhook endpoint disabled", endpoint_id=str(claimed.endpoint_id), reason=reason)
    alert_endpoint_disabled(uow, claimed, reason)
