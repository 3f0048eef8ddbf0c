"""The lifecycles of the API's resources, read from the transition tables, with who triggers each transition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from notifications.domain.tickets import TRANSITIONS as TICKET_TRANSITIONS
from orders.domain.transitions import TRANSITIONS as ORDER_TRANSITIONS
from payments.domain.transitions import PAYMENT_TRANSITIONS, REFUND_TRANSITIONS
from payouts.domain.payout_transitions import EXCEPTION_TRANSITIONS, PAYOUT_TRANSITIONS
from payouts.domain.transitions import TRANSITIONS as TRANSFER_TRANSITIONS

_GATEWAY: Final = "payment gateway"
_SERVICE: Final = "payouts service"


@dataclass(frozen=True, slots=True)
class Transition:
    """A trigger that leads from one state to another, which may be the same."""

    trigger: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """One state machine: its states in the order of a usual course, and who causes each trigger."""

    name: str
    meaning: str
    states: Sequence[str]
    transitions: Sequence[Transition]
    triggered_by: Mapping[str, str]


def lifecycles() -> list[Lifecycle]:
    """Return all lifecycles. Raises KeyError for a trigger without a cause."""
    orders = {trigger: _as_texts(rule.to) for trigger, rule in ORDER_TRANSITIONS.items()}
    transfers = {event: _as_texts(row.to) for event, row in TRANSFER_TRANSITIONS.items() if row.to}
    tickets: dict[str, dict[str, str]] = {}
    for (before, action), after in TICKET_TRANSITIONS.items():
        tickets.setdefault(action, {})[before] = after
    return [
        _lifecycle(
            "Order", "Any other command is 409; a repeated one has no further effect.", orders, _ORDER, _ORDER_BY
        ),
        _lifecycle(
            "Payment", "One payment of an order at the payment gateway.", PAYMENT_TRANSITIONS, _PAYMENT, _PAYMENT_BY
        ),
        _lifecycle("Refund", "Money on its way back to a buyer.", REFUND_TRANSITIONS, _REFUND, _REFUND_BY),
        _lifecycle("Payout", "A vendor's request for money of the wallet.", PAYOUT_TRANSITIONS, _PAYOUT, _PAYOUT_BY),
        _lifecycle("Transfer", "One attempt of a payout at the payment gateway.", transfers, _TRANSFER, _TRANSFER_BY),
        _lifecycle("Exception", "A payout that staff must look at.", EXCEPTION_TRANSITIONS, _EXCEPTION, _EXCEPTION_BY),
        _lifecycle("Ticket", "A request to support.", tickets, _TICKET, _TICKET_BY),
    ]


def _as_texts(rule: Mapping[Any, str]) -> dict[str, str]:
    return {str(before): after for before, after in rule.items()}


def _lifecycle(
    name: str,
    meaning: str,
    table: Mapping[Any, Mapping[str, str]],
    states: Sequence[str],
    triggered_by: Mapping[str, str],
) -> Lifecycle:
    found = list(_transitions(table))
    known = {state for each in found for state in (each.before, each.after)}
    if known != set(states):
        raise KeyError(f"{name}: the states of the page and of the table differ: {known ^ set(states)}")
    triggers = list(table)
    # A rule's states may be a set, whose order changes from run to run.
    found.sort(key=lambda each: (triggers.index(each.trigger), states.index(each.before)))
    return Lifecycle(name, meaning, states, found, {trigger: triggered_by[trigger] for trigger in table})


def _transitions(table: Mapping[Any, Mapping[str, str]]) -> Iterator[Transition]:
    for trigger, rule in table.items():
        for before, after in rule.items():
            yield Transition(str(trigger), before, after)


_ORDER: Final = (
    "Processing", "expired", "cancelled", "paid_escrow", "dispatched", "disputed", "delivered", "paid", "refund_pending",
    "refunded",
)  # fmt: skip
_ORDER_BY: Final[Mapping[str, str]] = {
    "buyer_cancels": "buyer",
    "vendor_cancels": "vendor",
    "staff_cancels": "staff with `orders:cancel`",
    "vendor_dispatches": "vendor",
    "pin_accepted": "vendor or hub agent, with the buyer's PIN",
    "buyer_disputes": "buyer",
    "resolved_for_buyer": "two of staff: `disputes:prepare`, `disputes:approve`",
    "resolved_for_vendor": "two of staff: `disputes:prepare`, `disputes:approve`",
    "return_approved": "vendor, or staff with `returns:decide`",
    "everything_returned": "vendor, or staff with `returns:decide`",
    "payment_window_ended": "timer",
    "vendor_idle": "timer",
    "pin_window_ended": "timer",
    "escrow_held": "payments, after a charge",
    "escrow_held_without_stock": "payments, after a charge",
    "escrow_fully_released": "payments, after a release",
    "chargeback_opened": "the payer's bank",
    "refund_settled": _GATEWAY,
    "refund_failed": _GATEWAY,
}
_PAYMENT: Final = ("opening", "pending", "failed", "quarantined", "overpaid", "closed", "paid")
_PAYMENT_BY: Final[Mapping[str, str]] = {
    "opened_at_gateway": _GATEWAY,
    "declined": _GATEWAY,
    "charged": _GATEWAY,
    "charged_wrongly": "payment gateway: too little, or another currency",
    "charged_again": "payment gateway: the order was paid before",
    "order_closed": "orders: cancelled, expired or paid otherwise",
}
_REFUND: Final = ("pending", "submitting", "submitted", "settled", "failed", "prepared")
_REFUND_BY: Final[Mapping[str, str]] = {
    "sent": "payments service",
    "not_sent": "payments service",
    "accepted": _GATEWAY,
    "settled": _GATEWAY,
    "failed": _GATEWAY,
    "decision_prepared": "staff with `refunds:prepare`",
    "decision_rejected": "staff with `refunds:approve`",
    "attempt_approved": "another one of staff with `refunds:approve`",
    "account_approved": "another one of staff with `refunds:approve`",
}
_PAYOUT: Final = ("pending", "processed", "failed")
_PAYOUT_BY: Final[Mapping[str, str]] = {
    "transfer_succeeded": _GATEWAY,
    "amount_returned": "vendor before a transfer (cancellation), or two of staff after a failed one",
}
_TRANSFER: Final = (
    "reserved", "submitting", "unknown", "pending", "received", "otp", "success", "failed", "rejected", "blocked",
    "abandoned", "reversed",
)  # fmt: skip
_TRANSFER_BY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("claimed", "submission_started", "held", "call_unanswered", "queried"), _SERVICE),
    "withdrawn": "vendor or payouts service, before it is sent",
    **dict.fromkeys(
        (
            "pending", "received", "otp", "success", "success_confirmed", "failed", "rejected", "blocked", "abandoned",
            "reversed",
        ),
        _GATEWAY,
    ),
}  # fmt: skip
_EXCEPTION: Final = ("open", "closed")
_EXCEPTION_BY: Final[Mapping[str, str]] = {
    "closed": "staff with `exceptions:classify`, or payouts service after the cause ended"
}
_TICKET: Final = ("open", "pending", "closed")
_TICKET_BY: Final[Mapping[str, str]] = {
    "customer": "customer, by a message (a closed one for seven days)",
    "staff": "staff with `tickets:manage`, by a message",
    "close": "customer, or staff with `tickets:manage`",
}
