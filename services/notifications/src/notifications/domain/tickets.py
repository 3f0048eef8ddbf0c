"""Support tickets: their transitions, writers and limits.

| From | customer writes | staff write | closed by either |
|---|---|---|---|
| `open` (waits for staff) | `open` | `pending` | `closed` |
| `pending` (waits for the customer) | `open` | `pending` | `closed` |
| `closed` | `open` within seven days, then rejected | rejected | `closed`, unchanged |
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from notifications.domain.ticket_texts import MaskedText, mask_digits

Status = Literal["open", "pending", "closed"]
Priority = Literal["low", "normal", "high", "urgent"]
TicketAction = Literal["customer", "staff", "close"]
Side = Literal["customer", "staff"]

REOPENED_WITHIN: Final = timedelta(days=7)
# The messaging app accepts free texts for this time after the customer's last message; later only approved templates.
FREE_TEXTS_FOR: Final = timedelta(hours=24)
ATTACHMENTS_MAX: Final = 20
SUBJECT_MAX: Final = 200
TEXT_MAX: Final = 4000
# Characters of a subject that is derived from a message.
_SUBJECT_FROM_TEXT: Final = 80

TRANSITIONS: Final[Mapping[tuple[str, TicketAction], Status]] = {
    ("open", "customer"): "open",
    ("open", "staff"): "pending",
    ("open", "close"): "closed",
    ("pending", "customer"): "open",
    ("pending", "staff"): "pending",
    ("pending", "close"): "closed",
    ("closed", "customer"): "open",
    ("closed", "close"): "closed",
}


def status_after(status: str, action: TicketAction, closed_at: datetime | None, now: datetime) -> Status | None:
    """Return the status after an action; None when the ticket does not permit it."""
    if status == "closed" and action == "customer" and closed_at is not None and now - closed_at > REOPENED_WITHIN:
        return None
    return TRANSITIONS.get((status, action))


def side_of(caller_id: UUID, owner_id: UUID | None, *, may_manage: bool) -> Side | None:
    """Return the side of a writer: the owner is the customer, even if staff; None for a reader."""
    if owner_id == caller_id:
        return "customer"
    return "staff" if may_manage else None


def may_write_freely(last_message_at: datetime | None, now: datetime) -> bool:
    """Return whether the messaging app accepts a free text to the customer."""
    return last_message_at is not None and now - last_message_at < FREE_TEXTS_FOR


def reported_instant(seconds: int | None, now: datetime) -> datetime:
    """Return the time that the app reports in epoch seconds, capped at now."""
    if seconds is None:
        return now
    return min(datetime.fromtimestamp(seconds, now.tzinfo), now)


def subject_of(text: MaskedText) -> MaskedText:
    """Return the subject of a ticket that a message opened."""
    line = " ".join(text.split())
    short = line if len(line) <= _SUBJECT_FROM_TEXT else f"{line[: _SUBJECT_FROM_TEXT - 3].rstrip()}..."
    return mask_digits(short)
