"""What the SMS companies tell of a message, in our words. What says nothing new of it is left out."""

from collections.abc import Mapping
from typing import Final

from notifications.domain.statuses import Status

# Termii: "Message Sent" is only that the network has it.
_TERMII: Final[Mapping[str, Status]] = {
    "delivered": "delivered",
    "message sent": "sent",
    "sent": "sent",
    "message failed": "failed",
    "failed": "failed",
    "rejected": "failed",
    "dnd active on phone number": "failed",
    "expired": "failed",
}
# Africa's Talking: "Success" is that the telephone has it.
_AFRICAS_TALKING: Final[Mapping[str, Status]] = {
    "success": "delivered",
    "sent": "sent",
    "submitted": "sent",
    "rejected": "failed",
    "failed": "failed",
    "absentsubscriber": "failed",
    "expired": "failed",
}
COMPANIES: Final = {"termii": _TERMII, "africas-talking": _AFRICAS_TALKING}


def status_of(company: str, word: str) -> Status | None:
    """How far the message got; None for a word that says nothing that we record."""
    return COMPANIES[company].get(word.strip().lower())
