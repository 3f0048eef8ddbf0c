"""The lifecycle of an order (contract section 6): state and trigger give the next state or a rejection.

A late event is stale: it is ignored and counted. A command that the state does not allow is forbidden (409), and so
is an early event such as a release before its charge, which the retry ladder redelivers.

**Transitions are one table**: state and trigger give the next state, or `REPEATED`, `STALE`, `FORBIDDEN`. Commands
are never stale.
"""

from typing import Final, Literal, get_args

from common.primitives.lifecycles import Lifecycle, Rule

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

_UNPAID: Final[tuple[State, ...]] = ("Processing", "expired", "cancelled")
_HELD: Final[tuple[State, ...]] = ("paid_escrow", "dispatched")

_TWO_OF_STAFF: Final = "two of staff: `disputes:prepare`, `disputes:approve`"
_DECIDES_RETURNS: Final = "vendor, or staff with `returns:decide`"
_GATEWAY: Final = "payment gateway"


def _all_but(*states: State) -> frozenset[State]:
    return frozenset(STATES) - frozenset(states)


_RULES: Final[dict[Trigger, Rule[State]]] = {
    "buyer_cancels": Rule(
        {"Processing": "cancelled", "paid_escrow": "refund_pending"},
        repeated={"cancelled", "refund_pending", "refunded"},
        by="buyer",
    ),
    "vendor_cancels": Rule(
        {"Processing": "cancelled", "paid_escrow": "refund_pending", "dispatched": "refund_pending"},
        repeated={"cancelled", "refund_pending", "refunded"},
        by="vendor",
    ),
    "staff_cancels": Rule(
        {"Processing": "cancelled", "paid_escrow": "refund_pending", "dispatched": "refund_pending"},
        repeated={"cancelled", "refund_pending", "refunded"},
        by="staff with `orders:cancel`",
    ),
    "vendor_dispatches": Rule({"paid_escrow": "dispatched"}, repeated={"dispatched"}, by="vendor"),
    "pin_accepted": Rule(
        dict.fromkeys(_HELD, "delivered"),
        repeated={"delivered", "paid"},
        by="vendor or hub agent, with the buyer's PIN",
    ),
    "buyer_disputes": Rule(dict.fromkeys(_HELD, "disputed"), repeated={"disputed"}, by="buyer"),
    "resolved_for_buyer": Rule(
        {"disputed": "refund_pending"},
        repeated={"refund_pending"},
        by=_TWO_OF_STAFF,
    ),
    # For the vendor, or split: the order counts as delivered, and the following release makes it `paid`.
    "resolved_for_vendor": Rule(
        {"disputed": "delivered"},
        repeated={"delivered", "paid"},
        by=_TWO_OF_STAFF,
    ),
    # The status stays while the buyer keeps an item; `refundedMinor` grows.
    "return_approved": Rule({"delivered": "delivered", "paid": "paid"}, by=_DECIDES_RETURNS),
    "everything_returned": Rule(
        {"delivered": "refunded", "paid": "refunded"},
        repeated={"refunded"},
        by=_DECIDES_RETURNS,
    ),
    "payment_window_ended": Rule(
        {"Processing": "expired"},
        repeated={"expired"},
        stale=_all_but("Processing", "expired"),
        by="timer",
    ),
    "vendor_idle": Rule(
        {"paid_escrow": "refund_pending"},
        repeated={"refund_pending"},
        stale=_all_but("paid_escrow", "refund_pending"),
        by="timer",
    ),
    "pin_window_ended": Rule(
        {"dispatched": "disputed"},
        repeated={"disputed"},
        stale=_all_but("dispatched", "disputed"),
        by="timer",
    ),
    "escrow_held": Rule(
        dict.fromkeys(_UNPAID, "paid_escrow"),
        repeated={"paid_escrow"},
        stale=_all_but(*_UNPAID, "paid_escrow"),
        by="payments, after a charge",
    ),
    "escrow_held_without_stock": Rule(
        dict.fromkeys(_UNPAID, "refund_pending"),
        repeated={"refund_pending"},
        stale=_all_but(*_UNPAID, "refund_pending"),
        by="payments, after a charge",
    ),
    # From `disputed`: the release was committed before the freeze. While unpaid, the charge has not been received yet.
    "escrow_fully_released": Rule(
        {"delivered": "paid", "paid_escrow": "paid", "dispatched": "paid", "disputed": "paid"},
        repeated={"paid"},
        stale={"refund_pending", "refunded"},
        by="payments, after a release",
    ),
    # After the PIN the status stays, and the wallet holds the amount.
    "chargeback_opened": Rule(
        {"paid_escrow": "disputed", "dispatched": "disputed", "delivered": "delivered", "paid": "paid"},
        repeated={"disputed"},
        stale={"refund_pending", "refunded"},
        by="the payer's bank",
    ),
    # The order's own refund, by its refundId. After a release it is the refund of a return: the status stays.
    "refund_settled": Rule(
        {"refund_pending": "refunded", "delivered": "delivered", "paid": "paid"},
        repeated={"refunded"},
        stale={*_HELD, "disputed"},
        by=_GATEWAY,
    ),
    # A refund may fail after it was settled, or after everything was returned: the money is due again.
    "refund_failed": Rule(
        {"refund_pending": "refund_pending", "refunded": "refund_pending", "delivered": "delivered", "paid": "paid"},
        stale={*_HELD, "disputed"},
        by=_GATEWAY,
    ),
}

ORDER: Final = Lifecycle("Order", "Any other command is 409; a repeated one has no further effect.", STATES, _RULES)
next_state: Final = ORDER.next_state
