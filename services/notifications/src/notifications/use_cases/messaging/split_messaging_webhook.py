"""Take a body of the messaging app apart: each message and status in it is work of its own, once."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from notifications.domain.errors import WebhookUnknown
from notifications.domain.messaging_webhook import items_of, read_body
from notifications.store import messaging


async def split_messaging_webhook(uow: UnitOfWork, webhook_id: str, now: datetime) -> int:
    """Writes the new items of the body down, each with its own ladder, so that an odd one stops none of its neighbours.

    Tells how many were new. A body that was taken apart before, or is empty by now, gives none.
    """
    row = await messaging.lock_messaging_webhook(uow, webhook_id)
    if row is None:
        raise WebhookUnknown
    if row["outcome"] in ("done", "ignored"):
        return 0
    items = items_of(read_body(row["raw"]))
    new = await messaging.record_messaging_items_if_new(uow, webhook_id, items, now)
    await messaging.save_messaging_webhook(uow, webhook_id, "done" if items else "ignored")
    return new
