"""Support tickets: whose turn it is, who may write, and what may be said where.

| From | customer writes | staff write | closed by either |
|---|---|---|---|
| `open` (staff's turn) | `open` | `pending` | `closed` |
| `pending` (the customer's turn) | `open` | `pending` | `closed` |
| `closed` | `open` within seven days, afterwards refused | refused | `closed`, nothing changes |
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from notifications.domain.ticket_texts import MaskedText, mask_digits

Status = Literal["open", "pending", "closed"]
Priority = Literal["low", "normal", "high", "urgent"]
Act = Literal["customer", "staff", "close"]
Side = Literal["customer", "staff"]

REOPENED_WITHIN: Final = timedelta(days=7)
# The messaging app takes free texts so long after the customer's last message; later only approved ones.
FREE_TEXTS_FOR: Final = timedelta(hours=24)
ATTACHMENTS_MAX: Final = 20
SUBJECT_MAX: Final = 200
TEXT_MAX: Final = 4000
# What a message of the app is known by in lists.
_SUBJECT_FROM_TEXT: Final = 80

_MOVES: Final[Mapping[tuple[str, Act], Status]] = {
    ("open", "customer"): "open",
    ("open", "staff"): "pending",
    ("open", "close"): "closed",
    ("pending", "customer"): "open",
    ("pending", "staff"): "pending",
    ("pending", "close"): "closed",
    ("closed", "customer"): "open",
    ("closed", "close"): "closed",
}


def status_after(status: str, act: Act, closed_at: datetime | None, now: datetime) -> Status | None:
    """The status after an act; None when the ticket is over for it."""
    if status == "closed" and act == "customer" and closed_at is not None and now - closed_at > REOPENED_WITHIN:
        return None
    return _MOVES.get((status, act))


def side_of(caller_id: UUID, owner_id: UUID | None, *, may_manage: bool) -> Side | None:
    """For whom the caller writes: whoever owns the ticket is its customer, staff or not; None for one who only reads."""
    if owner_id == caller_id:
        return "customer"
    return "staff" if may_manage else None


def may_write_freely(heard_at: datetime | None, now: datetime) -> bool:
    """Whether a text that nobody approved may go to the customer by the messaging app."""
    return heard_at is not None and now - heard_at < FREE_TEXTS_FOR


def reported_instant(seconds: int | None, now: datetime) -> datetime:
    """When the customer wrote, by the app's own time; never later than now."""
    if seconds is None:
        return now
    return min(datetime.fromtimestamp(seconds, now.tzinfo), now)


def subject_of(text: MaskedText) -> MaskedText:
    """The subject of a ticket that began with a message."""
    line = " ".join(text.split())
    short = line if len(line) <= _SUBJECT_FROM_TEXT else f"{line[: _SUBJECT_FROM_TEXT - 3].rstrip()}..."
    return mask_digits(short)
