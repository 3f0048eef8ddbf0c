"""Delivery statuses of the SMS companies. Statuses without new information are skipped.

"Message Sent" and "Submitted" are skipped: a receipt names the company's message id, whose message is `sent` already.
"""

from collections.abc import Mapping
from typing import Final

from notifications.domain.statuses import Status

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


def status_of(company: str, reported: str) -> Status | None:
    """Return the recorded status; None for one that is skipped."""
    return COMPANIES[company].get(reported.strip().lower())
