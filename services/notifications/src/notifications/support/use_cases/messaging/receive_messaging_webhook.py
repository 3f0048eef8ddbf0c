"""Receive a webhook of the messaging app."""

from datetime import datetime

from common.database.unit_of_work import Database
from notifications.support.domain.messaging_webhook import event_type_of, key_of_body, read_body
from notifications.support.store import messaging


async def receive_messaging_webhook(database: Database, raw: bytes, now: datetime) -> bool:
    """Commit a signed body of any shape with its work item; return False for a repetition (contract section 9).

    Raises DatabaseUnavailable; the app then sends the webhook again.
    """
    body = read_body(raw)
    return await messaging.record_messaging_webhook_if_new(
        database, key_of_body(raw), event_type_of(body), raw, now, is_json=body is not None
    )
