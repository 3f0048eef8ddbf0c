"""Delivery statuses of the SMS companies. Statuses without new information are skipped.

"Message Sent" and "Submitted" are skipped: a receipt names the company's message id, whose message is `sent` already.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from notifications.deliveries.domain.statuses import LOST, Status

MESSAGE_ID_MAX: Final = 200
# An error code or the name of a reason.
ERROR_CHARACTERS_MAX: Final = 80

_TERMII: Final[Mapping[str, Status]] = {
    "delivered": "delivered",
    "message failed": "failed",
    "failed": "failed",
    "rejected": "failed",
    "dnd active on phone number": "failed",
    "expired": "failed",
}
# "Success" means delivery to the handset.
_AFRICAS_TALKING: Final[Mapping[str, Status]] = {
    "success": "delivered",
    "rejected": "failed",
    "failed": "failed",
    "absentsubscriber": "failed",
    "expired": "failed",
}
# `queued`, `sending`, `sent` and the like contain nothing new.
_TWILIO: Final[Mapping[str, Status]] = {
    "delivered": "delivered",
    "read": "read",
    "undelivered": "failed",
    "failed": "failed",
    "canceled": "failed",
}
COMPANIES: Final = {"termii": _TERMII, "africas-talking": _AFRICAS_TALKING, "twilio": _TWILIO}


class TermiiReport(msgspec.Struct, frozen=True):
    message_id: str = ""
    status: str = ""


class SmsReceipt(NamedTuple):
    """A status to record of the company's message, with an error if the message is lost."""

    message_id: str
    status: Status
    error: str


def read_receipt(company: str, message_id: str | None, reported: str | None, error: str = "") -> SmsReceipt | None:
    """Return the receipt; None without a message id, or with a status that is skipped."""
    if not message_id or len(message_id) > MESSAGE_ID_MAX or "\x00" in message_id:
        return None
    status = COMPANIES[company].get((reported or "").strip().lower())
    if status is None:
        return None
    reason = "".join(sign if sign.isprintable() else " " for sign in error[:ERROR_CHARACTERS_MAX]).strip()
    return SmsReceipt(message_id, status, f"{reported} {reason}".strip() if status in LOST else "")
