"""Receive a delivery receipt of an SMS company."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.domain.sms_receipts import status_of

MESSAGE_ID_MAX: Final = 200


async def receive_receipt(uow: UnitOfWork, company: str, message_id: object, reported: object, now: datetime) -> bool:
    """Enqueue the receipt; return False without a message id or with a status that is not recorded.

    The receipt may arrive before the message id is committed; the worker retries.
    """
    if not isinstance(message_id, str) or not 0 < len(message_id) <= MESSAGE_ID_MAX or "\x00" in message_id:
        return False
    status = status_of(company, reported) if isinstance(reported, str) else None
    if status is None:
        return False
    store.enqueue_receipt(uow, "sms", message_id, status, now)
    return True
