"""The lifecycle of an order against the rows of the contract (section 6), written down here a second time."""

from collections.abc import Callable

import pytest

from common.primitives.lifecycles import Rejection
from orders.domain.order_updates import EarlyUpdate, OrderNotReceived, evaluate_update
from orders.domain.orders import Order
from orders.domain.transitions import ORDER, STATES, State, next_state
from testkit.cases import for_each

# From, trigger, to: as the contract lists them.
CONTRACT = [
    ("Processing", "payment_window_ended", "expired"),
    ("Processing", "buyer_cancels", "cancelled"),
    ("Processing", "vendor_cancels", "cancelled"),
    ("Processing", "staff_cancels", "cancelled"),
    ("Processing", "escrow_held", "paid_escrow"),
    ("expired", "escrow_held", "paid_escrow"),
    ("cancelled", "escrow_held", "paid_escrow"),
    ("Processing", "escrow_held_without_stock", "refund_pending"),
    ("expired", "escrow_held_without_stock", "refund_pending"),
    ("cancelled", "escrow_held_without_stock", "refund_pending"),
    ("paid_escrow", "vendor_dispatches", "dispatched"),
    ("paid_escrow", "pin_accepted", "delivered"),
    ("dispatched", "pin_accepted", "delivered"),
    ("paid_escrow", "buyer_cancels", "refund_pending"),
    ("paid_escrow", "vendor_cancels", "refund_pending"),
    ("paid_escrow", "staff_cancels", "refund_pending"),
    ("paid_escrow", "vendor_idle", "refund_pending"),
    ("dispatched", "vendor_cancels", "refund_pending"),
    ("dispatched", "staff_cancels", "refund_pending"),
    ("paid_escrow", "buyer_disputes", "disputed"),
    ("dispatched", "buyer_disputes", "disputed"),
    ("dispatched", "pin_window_ended", "disputed"),
    ("delivered", "escrow_fully_released", "paid"),
    ("paid_escrow", "escrow_fully_released", "paid"),
    ("dispatched", "escrow_fully_released", "paid"),
    ("disputed", "escrow_fully_released", "paid"),
    ("paid_escrow", "chargeback_opened", "disputed"),
    ("dispatched", "chargeback_opened", "disputed"),
    ("delivered", "chargeback_opened", "delivered"),
    ("paid", "chargeback_opened", "paid"),
    ("disputed", "resolved_for_buyer", "refund_pending"),
    ("disputed", "resolved_for_vendor", "delivered"),
    ("delivered", "return_approved", "delivered"),
    ("paid", "return_approved", "paid"),
    ("delivered", "everything_returned", "refunded"),
    ("paid", "everything_returned", "refunded"),
    ("refund_pending", "refund_settled", "refunded"),
    ("delivered", "refund_settled", "delivered"),
    ("paid", "refund_settled", "paid"),
    ("refund_pending", "refund_failed", "refund_pending"),
    ("refunded", "refund_failed", "refund_pending"),
    ("delivered", "refund_failed", "delivered"),
    ("paid", "refund_failed", "paid"),
]
COMMANDS = {
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
}
# Where a command finds its work done already.
OBEYED = {
    ("cancelled", "buyer_cancels"),
    ("cancelled", "vendor_cancels"),
    ("cancelled", "staff_cancels"),
    ("refund_pending", "buyer_cancels"),
    ("refund_pending", "vendor_cancels"),
    ("refund_pending", "staff_cancels"),
    ("refunded", "buyer_cancels"),
    ("refunded", "vendor_cancels"),
    ("refunded", "staff_cancels"),
    ("dispatched", "vendor_dispatches"),
    ("delivered", "pin_accepted"),
    ("paid", "pin_accepted"),
    ("disputed", "buyer_disputes"),
    ("refund_pending", "resolved_for_buyer"),
    ("delivered", "resolved_for_vendor"),
    ("paid", "resolved_for_vendor"),
    ("refunded", "everything_returned"),
}
LISTED = {(state, trigger) for state, trigger, _ in CONTRACT}
UNLISTED = [(state, trigger) for state in STATES for trigger in ORDER.rules if (state, trigger) not in LISTED]
TERMINAL = ("paid", "refunded")
PRESUMES_A_CHARGE = ("escrow_fully_released", "chargeback_opened", "refund_settled", "refund_failed")


@for_each(("state", "trigger", "to"), CONTRACT)
def test_each_row_of_the_contract_is_a_transition(state: str, trigger: str, to: str) -> None:
    assert next_state(state, trigger) == to


@for_each(("state", "trigger"), [pair for pair in UNLISTED if pair[1] in COMMANDS])
def test_every_other_command_is_forbidden_or_obeyed_already(state, trigger) -> None:
    expected = Rejection.REPEATED if (state, trigger) in OBEYED else Rejection.FORBIDDEN
    assert next_state(state, trigger) is expected


@for_each(("state", "trigger"), [pair for pair in UNLISTED if pair[1] not in COMMANDS])
def test_all_other_events_change_nothing_and_are_forbidden_only_before_the_charge(state, trigger) -> None:
    too_early = trigger in PRESUMES_A_CHARGE and state in ("Processing", "expired", "cancelled")
    expected = {Rejection.FORBIDDEN} if too_early else {Rejection.STALE, Rejection.REPEATED}
    assert next_state(state, trigger) in expected


@pytest.mark.parametrize("trigger", [trigger for trigger in ORDER.rules if trigger not in COMMANDS])
def test_a_repeated_event_never_changes_the_state_again(trigger) -> None:
    for reached in set(ORDER.rules[trigger].to.values()):
        assert next_state(reached, trigger) in (reached, Rejection.REPEATED, Rejection.STALE)


@for_each("state", TERMINAL)
@for_each("trigger", list(ORDER.rules))
def test_a_stale_event_never_overwrites_a_terminal_state(state: str, trigger) -> None:
    outcome = next_state(state, trigger)
    is_allowed = (state, trigger) in {("paid", "everything_returned"), ("refunded", "refund_failed")}
    assert isinstance(outcome, Rejection) or outcome == state or is_allowed


def test_an_event_of_an_unknown_order_is_retried(new_order: Callable[[State], Order]) -> None:
    with pytest.raises(OrderNotReceived):
        evaluate_update(None, "escrow_held", about=new_order("Processing").id)


def test_an_early_event_is_retried(new_order: Callable[[State], Order]) -> None:
    order = new_order("Processing")
    with pytest.raises(EarlyUpdate):
        evaluate_update(order, "escrow_fully_released", about=order.id)


@pytest.mark.parametrize(
    ("status", "expected"),
    [("Processing", "paid_escrow"), ("paid_escrow", Rejection.REPEATED), ("refunded", Rejection.STALE)],
)
def test_an_event_is_evaluated_against_its_order(new_order: Callable[[State], Order], status: State, expected) -> None:
    order = new_order(status)
    assert evaluate_update(order, "escrow_held", about=order.id) == (order, expected)
