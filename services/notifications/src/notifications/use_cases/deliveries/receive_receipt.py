"""Receive a delivery receipt of an SMS company."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.domain.errors import MessageUnknown
from notifications.domain.sms_receipts import status_of
from notifications.domain.statuses import LOST
from notifications.use_cases.deliveries.record_delivery_status import record_delivery_status

CHANNEL: Final = "sms"
MESSAGE_ID_MAX: Final = 200
# An error code or the name of a reason.
ERROR_CHARACTERS_MAX: Final = 80


async def receive_receipt(
    uow: UnitOfWork, company: str, message_id: object, reported: object, now: datetime, *, error: str = ""
) -> bool:
    """Record the receipt; return False without a message id or with a status that is not recorded.

    The receipt may arrive before the message id is committed: then the worker records it, with retries.
    """
    if not isinstance(message_id, str) or not 0 < len(message_id) <= MESSAGE_ID_MAX or "\x00" in message_id:
        return False
    status = status_of(company, reported) if isinstance(reported, str) else None
    if status is None:
        return False
    reason = "".join(sign if sign.isprintable() else " " for sign in error[:ERROR_CHARACTERS_MAX]).strip()
    error = f"{reported} {reason}".strip() if status in LOST else ""
    try:
        await record_delivery_status(uow, CHANNEL, message_id, status, now, error=error)
    except MessageUnknown:
        store.enqueue_receipt(uow, CHANNEL, message_id, status, now, error)
    return True
