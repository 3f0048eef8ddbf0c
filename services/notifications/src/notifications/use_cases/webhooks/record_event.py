"""Record a published event for its subscribers."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from notifications.domain.webhook_events import WebhookEvent
from notifications.store import webhooks as store


async def record_event(uow: UnitOfWork, event: WebhookEvent, now: datetime) -> bool:
    """Store the event and queue its deliveries; False when no endpoint names its type, or it is recorded already."""
    return await store.record_webhook_event(uow, event, now)
