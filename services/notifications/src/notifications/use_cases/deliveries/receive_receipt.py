"""Take what an SMS company tells of a message."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.domain.sms_receipts import status_of

MESSAGE_ID_MAX: Final = 200


async def receive_receipt(uow: UnitOfWork, company: str, message_id: object, word: object, now: datetime) -> bool:
    """Leaves it to the worker; False for what names no message or says nothing that we record.

    The receipt may be faster than our own commit of the message: the worker's ladder waits for that.
    """
    if not isinstance(message_id, str) or not 0 < len(message_id) <= MESSAGE_ID_MAX or "\x00" in message_id:
        return False
    status = status_of(company, word) if isinstance(word, str) else None
    if status is None:
        return False
    store.leave_receipt(uow, "sms", message_id, status, now)
    return True
