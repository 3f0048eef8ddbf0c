"""The table of an order's transitions (contract section 6): state and trigger give the next state or a rejection.

`REPEATED` is a success without effect. `STALE` is a late event, which is ignored and counted. `FORBIDDEN` is a command
that the state does not allow (409), or an early event such as a release before its charge, which the retry ladder
redelivers.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, get_args

State = Literal[
    "Processing",
    "expired",
    "cancelled",
    "paid_escrow",
    "dispatched",
    "delivered",
    "paid",
    "disputed",
    "refund_pending",
    "refunded",
]

Trigger = Literal[
    # Commands of users: a state without a rule forbids them.
    "buyer_cancels",
    "vendor_cancels",
    "staff_cancels",
    "vendor_dispatches",
    "pin_accepted",
    "buyer_disputes",
    "resolved_for_buyer",
    "resolved_for_vendor",
    "return_approved",
    "everything_returned",
    # Events of payments and timers: a late event is stale, never forbidden.
    "payment_window_ended",
    "vendor_idle",
    "pin_window_ended",
    "escrow_held",
    "escrow_held_without_stock",
    "escrow_fully_released",
    "chargeback_opened",
    "refund_settled",
    "refund_failed",
]

STATES: Final[tuple[State, ...]] = get_args(State)
TRIGGERS: Final[tuple[Trigger, ...]] = get_args(Trigger)


class Rejection(Enum):
    """Why a trigger changes no state."""

    REPEATED = "repeated"
    STALE = "stale"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Rule:
    """The transitions of one trigger, and the states in which it is repeated or stale."""

    to: Mapping[State, State]
    repeated: Set[State] = frozenset()
    stale: Set[State] = frozenset()


_UNPAID: Final[tuple[State, ...]] = ("Processing", "expired", "cancelled")
_HELD: Final[tuple[State, ...]] = ("paid_escrow", "dispatched")


def _all_but(*states: State) -> frozenset[State]:
    return frozenset(STATES) - frozenset(states)


TRANSITIONS: Final[Mapping[Trigger, Rule]] = {
    "buyer_cancels": Rule(
        {"Processing": "cancelled", "paid_escrow": "refund_pending"},
        repeated={"cancelled", "refund_pending", "refunded"},
    ),
    "vendor_cancels": Rule(
        {"Processing": "cancelled", "paid_escrow": "refund_pending", "dispatched": "refund_pending"},
        repeated={"cancelled", "refund_pending", "refunded"},
    ),
    "staff_cancels": Rule(
        {"Processing": "cancelled", "paid_escrow": "refund_pending", "dispatched": "refund_pending"},
        repeated={"cancelled", "refund_pending", "refunded"},
    ),
    "vendor_dispatches": Rule({"paid_escrow": "dispatched"}, repeated={"dispatched"}),
    "pin_accepted": Rule(dict.fromkeys(_HELD, "delivered"), repeated={"delivered", "paid"}),
    "buyer_disputes": Rule(dict.fromkeys(_HELD, "disputed"), repeated={"disputed"}),
    "resolved_for_buyer": Rule({"disputed": "refund_pending"}, repeated={"refund_pending"}),
    # For the vendor, or split: the order counts as delivered, and the following release makes it `paid`.
    "resolved_for_vendor": Rule({"disputed": "delivered"}, repeated={"delivered", "paid"}),
    # The status stays while the buyer keeps an item; `refundedMinor` grows.
    "return_approved": Rule({"delivered": "delivered", "paid": "paid"}),
    "everything_returned": Rule({"delivered": "refunded", "paid": "refunded"}, repeated={"refunded"}),
    "payment_window_ended": Rule(
        {"Processing": "expired"}, repeated={"expired"}, stale=_all_but("Processing", "expired")
    ),
    "vendor_idle": Rule(
        {"paid_escrow": "refund_pending"},
        repeated={"refund_pending"},
        stale=_all_but("paid_escrow", "refund_pending"),
    ),
    "pin_window_ended": Rule(
        {"dispatched": "disputed"}, repeated={"disputed"}, stale=_all_but("dispatched", "disputed")
    ),
    "escrow_held": Rule(
        dict.fromkeys(_UNPAID, "paid_escrow"),
        repeated={"paid_escrow"},
        stale=_all_but(*_UNPAID, "paid_escrow"),
    ),
    "escrow_held_without_stock": Rule(
        dict.fromkeys(_UNPAID, "refund_pending"),
        repeated={"refund_pending"},
        stale=_all_but(*_UNPAID, "refund_pending"),
    ),
    # From `disputed`: the release was committed before the freeze. While unpaid, the charge has not been received yet.
    "escrow_fully_released": Rule(
        {"delivered": "paid", "paid_escrow": "paid", "dispatched": "paid", "disputed": "paid"},
        repeated={"paid"},
        stale={"refund_pending", "refunded"},
    ),
    # After the PIN the status stays, and the wallet holds the amount.
    "chargeback_opened": Rule(
        {"paid_escrow": "disputed", "dispatched": "disputed", "delivered": "delivered", "paid": "paid"},
        repeated={"disputed"},
        stale={"refund_pending", "refunded"},
    ),
    # The order's own refund, by its refundId. After a release it is the refund of a return: the status stays.
    "refund_settled": Rule(
        {"refund_pending": "refunded", "delivered": "delivered", "paid": "paid"},
        repeated={"refunded"},
        stale={*_HELD, "disputed"},
    ),
    # A refund may fail after it was settled, or after everything was returned: the money is due again.
    "refund_failed": Rule(
        {"refund_pending": "refund_pending", "refunded": "refund_pending", "delivered": "delivered", "paid": "paid"},
        stale={*_HELD, "disputed"},
    ),
}


def next_state(state: State, trigger: Trigger) -> State | Rejection:
    """The next state, which may equal `state`, or the reason for no transition."""
    rule = TRANSITIONS[trigger]
    if state in rule.to:
        return rule.to[state]
    if state in rule.repeated:
        return Rejection.REPEATED
    return Rejection.STALE if state in rule.stale else Rejection.FORBIDDEN
