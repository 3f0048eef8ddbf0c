"""Receive a delivery receipt of an SMS company."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.domain.sms_receipts import status_of
from notifications.domain.statuses import LOST

MESSAGE_ID_MAX: Final = 200
# An error code or the name of a reason.
ERROR_CHARACTERS_MAX: Final = 80


async def receive_receipt(
    uow: UnitOfWork, company: str, message_id: object, reported: object, now: datetime, *, error: str = ""
) -> bool:
    """Enqueue the receipt; return False without a message id or with a status that is not recorded.

    The receipt may arrive before the message id is committed; the worker retries.
    """
    if not isinstance(message_id, str) or not 0 < len(message_id) <= MESSAGE_ID_MAX or "\x00" in message_id:
        return False
    status = status_of(company, reported) if isinstance(reported, str) else None
    if status is None:
        return False
    reason = "".join(sign if sign.isprintable() else " " for sign in error[:ERROR_CHARACTERS_MAX]).strip()
    store.enqueue_receipt(uow, "sms", message_id, status, now, f"{reported} {reason}".strip() if status in LOST else "")
    return True
