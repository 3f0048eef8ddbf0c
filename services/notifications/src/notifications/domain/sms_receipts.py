"""What the SMS companies tell of a message, in our words. What says nothing new of it is left out.

That the network has it ("Message Sent", "Submitted") is such a word: it comes under the company's id of the message, which we
know only since the company took it, and then the message is `sent` already.
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
# Africa's Talking: "Success" is that the telephone has it.
_AFRICAS_TALKING: Final[Mapping[str, Status]] = {
    "success": "delivered",
    "rejected": "failed",
    "failed": "failed",
    "absentsubscriber": "failed",
    "expired": "failed",
}
COMPANIES: Final = {"termii": _TERMII, "africas-talking": _AFRICAS_TALKING}


def status_of(company: str, word: str) -> Status | None:
    """How far the message got; None for a word that says nothing that we record."""
    return COMPANIES[company].get(word.strip().lower())
