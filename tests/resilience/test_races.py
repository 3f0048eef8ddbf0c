"""A sample of the races; `make races` runs 200 schedules of all pairs of actions."""

import re

import pytest

from tests.resilience.lab_program import run_lab

pytestmark = pytest.mark.long

PAIRS = (
    "dispatched: staff_cancels/pin_accepted",
    "paid: staff_release/staff_release",
    "unpaid: buyer_cancels/charge/payment_window_ended",
)
SCHEDULES, SEED = 8, 76


def test_an_order_is_paid_out_or_refunded_however_actions_interleave() -> None:
    """It also finds a race when no statement locks its rows."""
    pairs = [f"--pair={pair}" for pair in PAIRS]
    output = run_lab("lab.races", *pairs, "--schedules", str(SCHEDULES), "--seed", str(SEED), "--self-check")
    assert re.search(rf"^{len(PAIRS)} pairs, \d+ schedules, 0 broken$", output, re.MULTILINE), output
