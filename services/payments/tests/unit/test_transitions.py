"""The lifecycles of payments: each state and trigger has one outcome, and a report is one trigger."""

from typing import Any

import pytest

from common.primitives.lifecycles import Lifecycle, Rejection
from payments.domain.refunds import NEEDS_ACCOUNT, RefundUpdate, trigger_of, trigger_of_outside
from payments.domain.transitions import CHARGEBACK, HOLD, PAYMENT, QUARANTINE, REFUND
from testkit.cases import for_each

# `.` the same state, `r` repeated, `s` stale, `-` forbidden; otherwise the next state.
REFUNDS = """
.                     pending    submitting submitted settled failed   prepared
sent                  submitting r          s         s       s        s
not_sent              -          pending    -         -       -        -
query_rejected        failed     failed     -         -       -        -
rejected_by_gateway   -          failed     -         -       -        -
credited_to_balance   settled    -          -         -       -        -
offset                settled    -          -         -       settled  settled
retried_with_account  -          submitted  .         -       -        -
account_rejected      -          failed     failed    -       -        -
decision_prepared     -          -          -         -       prepared -
decision_rejected     -          -          -         -       -        failed
attempt_approved      -          -          -         -       -        pending
account_approved      -          -          -         -       -        submitting
in_progress           r          r          r         s       s        s
accepted              submitted  submitted  r         s       s        s
paid                  settled    settled    settled   s       settled  settled
transfer_paid         settled    settled    settled   s       .        .
account_needed        failed     failed     failed    s       s        s
failed                failed     failed     failed    s       s        s
given_up              failed     failed     failed    s       .        .
reversed              failed     failed     failed    failed  s        s
replaced_attempt_paid settled    -          -         -       settled  settled
outside_paid          s          s          settled   s       s        s
outside_returned      s          s          failed    s       s        s
"""
PAYMENTS = """
.                 opening     pending     failed      paid quarantined overpaid    closed
opened_at_gateway pending     -           -           -    -           -           -
declined          s           failed      r           s    s           s           s
charged           paid        paid        paid        -    paid        paid        paid
charged_wrongly   quarantined quarantined quarantined s    r           quarantined quarantined
charged_again     overpaid    overpaid    overpaid    s    overpaid    r           overpaid
order_closed      closed      closed      -           -    -           -           -
order_paid        closed      closed      -           -    -           -           -
"""
QUARANTINES = """
.                 quarantined prepared    accepted returned
decision_prepared prepared    -           -        -
decision_rejected -           quarantined -        -
accepted          -           accepted    -        -
returned          -           returned    -        -
"""
CHARGEBACKS = """
.              opened won  lost
opened         .      s    s
won            won    r    -
lost           lost   -    r
won_after_loss -      -    won
lost_after_win -      lost -
"""
HOLDS = """
.          held     spent returned
spent      spent    -     -
returned   returned -     -
held_again -        -     held
"""
REJECTIONS = {"r": Rejection.REPEATED, "s": Rejection.STALE, "-": Rejection.FORBIDDEN}


def cells(lifecycle: Lifecycle[Any, Any], table: str) -> list[tuple[Lifecycle[Any, Any], str, str, str]]:
    heading, *rows = [line.split() for line in table.strip().splitlines()]
    assert set(heading[1:]) == set(lifecycle.states)
    assert [trigger for trigger, *_ in rows] == list(lifecycle.rules)
    return [
        (lifecycle, state, trigger, cell)
        for trigger, *outcomes in rows
        for state, cell in zip(heading[1:], outcomes, strict=True)
    ]


@for_each(
    ("lifecycle", "state", "trigger", "cell"),
    [
        *cells(REFUND, REFUNDS),
        *cells(PAYMENT, PAYMENTS),
        *cells(QUARANTINE, QUARANTINES),
        *cells(CHARGEBACK, CHARGEBACKS),
        *cells(HOLD, HOLDS),
    ],
)
def test_each_state_and_trigger_has_its_outcome(lifecycle, state, trigger, cell) -> None:
    assert lifecycle.next_state(state, trigger) == (state if cell == "." else REJECTIONS.get(cell, cell))


def update(status: str, gateway_refund_id: str | None = "7") -> RefundUpdate:
    return RefundUpdate(gateway_refund_id, "re-1", status, 100, "NGN", None)


@pytest.mark.parametrize(
    ("status", "waits", "expected"),
    [
        ("processed", {}, "paid"),
        ("processed", {"is_transfer": True}, "transfer_paid"),
        ("processed", {"is_transfer": True, "is_polled": True}, "paid"),
        ("failed", {}, "failed"),
        ("failed", {"needs_account": True}, "given_up"),
        ("reversed", {"needs_account": True}, "reversed"),
        (NEEDS_ACCOUNT, {}, "account_needed"),
        (NEEDS_ACCOUNT, {"has_account": True}, "accepted"),
        ("processing", {}, "accepted"),
    ],
)
def test_a_report_about_a_refund_is_one_trigger(status, waits, expected) -> None:
    state = {"is_transfer": False, "needs_account": False, "has_account": False, "is_polled": False}
    assert trigger_of(update(status), **(state | waits)) == expected


def test_a_report_without_the_gateways_id_accepts_no_refund() -> None:
    state = {"is_transfer": False, "needs_account": False, "has_account": False, "is_polled": False}
    assert trigger_of(update("pending", None), **state) == "in_progress"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("processed", "outside_paid"),
        ("failed", "outside_returned"),
        ("reversed", "outside_returned"),
        ("pending", "in_progress"),
    ],
)
def test_a_report_about_a_refund_made_outside_is_one_trigger(status, expected) -> None:
    assert trigger_of_outside(update(status)) == expected
