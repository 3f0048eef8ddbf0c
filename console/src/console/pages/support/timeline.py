"""The timeline of an order, from the records of all services."""

from collections.abc import Mapping, Sequence
from typing import Final

from console.api import Json
from console.formats import naira, spoken

Entry = tuple[str, str]
"""Instant and event."""

EVENTS: Final[Mapping[str, str]] = {
    "placed": "Placed",
    "escrow_held": "Paid: the money is in escrow",
    "escrow_held_without_stock": "Paid after the order had closed; the goods are sold out",
    "vendor_dispatches": "Dispatched",
    "line_cancelled": "One item cancelled",
    "arrived": "Arrived at its hub",
    "pin_issued": "Delivery PIN issued",
    "pin_rejected": "Wrong delivery PIN entered",
    "pin_locked": "Wrong delivery PIN entered: the PIN is locked",
    "pin_accepted": "Delivered: the PIN was accepted",
    "escrow_fully_released": "Completed: the escrow is released",
    "buyer_cancels": "Cancelled",
    "vendor_cancels": "Cancelled",
    "staff_cancels": "Cancelled",
    "payment_window_ended": "Expired: not paid in time",
    "vendor_idle": "Cancelled: not dispatched in time",
    "pin_window_ended": "Disputed: the PIN was not entered in time",
    "buyer_disputes": "Disputed",
    "chargeback_opened": "Disputed by the buyer's bank",
    "resolved_for_buyer": "Resolved for the buyer",
    "resolved_for_vendor": "Resolved: counted as delivered",
    "everything_returned": "Everything was returned",
    "refund_settled": "Refunded",
}
"""The events of the API's timeline, for staff and vendors."""

CHANNELS: Final[Mapping[str, str]] = {"sms": "Text", "email": "Mail", "push": "Push", "whatsapp": "WhatsApp"}
"""The channels of messages, as people call them."""


_ROLES: Final[Mapping[str, str]] = {
    "buyer": "the buyer",
    "vendor": "the shop",
    "hub_agent": "the hub",
    "staff": "staff",
}


def transitions_of(timeline: Sequence[Json]) -> list[Entry]:
    """Return the transitions and the events of the PIN, each with the person who caused it."""
    return [(one["occurredAt"], EVENTS.get(one["event"], spoken(one["event"])) + _by(one)) for one in timeline]


def _by(entry: Json) -> str:
    """Return the person as the reader may know them: `, by Bisi A. (the shop)`; nothing for a timer or a payment."""
    role, name = _ROLES.get(entry.get("actorRole") or ""), entry.get("actorName")
    if role is None:
        return ""
    return f", by {role}" if name is None else f", by {name} ({role})"


def order_timeline(
    timeline: Sequence[Json],
    payments: Sequence[Json],
    refunds: Sequence[Json],
    returns: Sequence[Json],
    resolutions: Sequence[Json],
    messages: Sequence[Json],
) -> list[Entry]:
    """All that happened to an order, oldest first. Events of one instant keep the sequence of the API."""
    # Staff read the name and the reason of a cancelled line, which is a decided return.
    events: list[tuple[str | None, str]] = [
        *transitions_of([one for one in timeline if one["event"] != "line_cancelled" or not returns])
    ]
    for payment in payments:
        amount = naira(payment["amountMinor"])
        events.append((payment["createdAt"], f"Payment of {amount} started"))
        events.append((payment["paidAt"], f"Charge: {amount} by {payment.get('channel') or 'the gateway'}"))
    for resolution in resolutions:
        events.append((resolution["createdAt"], f"Resolution for {resolution['outcome']} prepared"))
        events.append((resolution["decidedAt"], f"Resolution {resolution['status']}"))
    for request in returns:
        if request["cancelsLines"]:
            names = ", ".join(item["name"] for item in request["items"])
            events.append((request["decidedAt"], f"{names} cancelled: {request['reason']}"))
            continue
        events.append((request["createdAt"], f"Return requested: {request['reason']}"))
        events.append((request["decidedAt"], f"Return {request['status']}"))
    for refund in refunds:
        events.append((refund["createdAt"], f"Refund of {naira(refund['amountMinor'])} opened"))
        events.append((refund["settledAt"], f"Refund of {naira(refund['amountMinor'])} settled"))
    for message in messages:
        channel = CHANNELS.get(message["channel"], spoken(message["channel"]))
        sent = f"{channel} to {message['recipient']}: {spoken(message['template'])}"
        events.append((message["attemptedAt"], f"{sent}, {spoken(message['status'])}"))
    return sorted(((at, event) for at, event in events if at), key=lambda entry: entry[0])
