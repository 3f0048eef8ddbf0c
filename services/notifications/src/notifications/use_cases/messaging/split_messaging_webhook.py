"""Split a webhook of the messaging app into its messages and statuses."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from notifications.domain.errors import WebhookUnknown
from notifications.domain.messaging_webhook import items_of, read_body
from notifications.store import messaging


async def split_messaging_webhook(uow: UnitOfWork, webhook_id: str, now: datetime) -> int:
    """Record the new items, each with retries of its own, and return their number; 0 for a processed body."""
    webhook = await messaging.lock_messaging_webhook(uow, webhook_id)
    if webhook is None:
        raise WebhookUnknown
    if webhook.outcome in ("done", "ignored"):
        return 0
    items = items_of(read_body(webhook.raw))
    new = await messaging.record_messaging_items_if_new(uow, webhook_id, items, now)
    await messaging.save_messaging_webhook(uow, webhook_id, "done" if items else "ignored")
    return new
