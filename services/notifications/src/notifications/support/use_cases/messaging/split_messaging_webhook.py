"""Split a webhook of the messaging app into its messages and statuses."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from notifications.deliveries import MESSAGING_PROVIDER, MessagingError, classify_error, pause_provider
from notifications.support.domain.errors import WebhookUnknown
from notifications.support.domain.messaging_webhook import errors_of, items_of, read_body
from notifications.support.store import messaging

log: Final = get_logger(__name__)


async def split_messaging_webhook(uow: UnitOfWork, webhook_id: str, now: datetime) -> int:
    """Record the new items, each with retries of its own, and return their number; 0 for a processed body."""
    webhook = await messaging.lock_messaging_webhook(uow, webhook_id)
    if webhook is None:
        raise WebhookUnknown
    if webhook.outcome in ("done", "ignored"):
        return 0
    body = read_body(webhook.raw)
    for error in errors_of(body):
        await _record_account_error(uow, error, now)
    items = items_of(body)
    new = await messaging.record_messaging_items_if_new(uow, webhook_id, items, now)
    await messaging.save_messaging_webhook(uow, webhook_id, "done" if items else "ignored")
    return new


async def _record_account_error(uow: UnitOfWork, error: MessagingError, now: datetime) -> None:
    """Log an error that concerns no single message; a fault of our account pauses the provider."""
    log.warning("the messaging app reports an error of our account", error=error.summary)
    if classify_error(error) == "account":
        await pause_provider(uow, MESSAGING_PROVIDER, error.summary, now)
