"""Support tickets: their lifecycle, writers and limits."""

from datetime import datetime, timedelta
from typing import Final, Literal, get_args
from uuid import UUID

from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from notifications.deliveries import MaskedText, mask_digits

Status = Literal["open", "pending", "closed"]
Priority = Literal["low", "normal", "high", "urgent"]
TicketAction = Literal["customer", "staff", "close", "erase"]
Side = Literal["customer", "staff"]

REOPENED_WITHIN: Final = timedelta(days=7)
# The messaging app accepts free texts for this time after the customer's last message; later only approved templates.
FREE_TEXTS_FOR: Final = timedelta(hours=24)
ATTACHMENTS_MAX: Final = 20
SUBJECT_MAX: Final = 200
TEXT_MAX: Final = 4000
# Characters of a subject that is derived from a message.
_SUBJECT_FROM_TEXT: Final = 80

# `open` waits for staff, `pending` for the customer.
TICKET: Final = Lifecycle[Status, TicketAction](
    "Ticket",
    "A request to support.",
    get_args(Status),
    {
        "customer": Rule(
            {"open": "open", "pending": "open", "closed": "open"},
            by="customer, by a message (a closed one for seven days)",
        ),
        "staff": Rule({"open": "pending", "pending": "pending"}, by="staff with `tickets:manage`, by a message"),
        "close": Rule(
            {"open": "closed", "pending": "closed"}, repeated={"closed"}, by="customer, or staff with `tickets:manage`"
        ),
        "erase": Rule(dict.fromkeys(get_args(Status), "closed"), by="the erasure of its customer"),
    },
)


def status_after(status: Status, action: TicketAction, closed_at: datetime | None, now: datetime) -> Status | Rejection:
    """Return the status after an action, or why the ticket does not permit it."""
    if status == "closed" and action == "customer" and closed_at is not None and now - closed_at > REOPENED_WITHIN:
        return Rejection.FORBIDDEN
    return TICKET.next_state(status, action)


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
