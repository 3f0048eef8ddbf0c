"""A sample of the races; `make races` runs 200 schedules of all pairs of actions."""

import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

PAIRS = (
    "dispatched: staff_cancels/pin_accepted",
    "paid: buyer_cancels/staff_release",
    "paid: staff_release/staff_release",
)
SCHEDULES, SEED = 12, 76


def test_an_order_is_paid_out_or_refunded_however_two_commands_interleave() -> None:
    """In a program of its own, as the crash points. It also proves that it finds a race when no statement locks its rows."""
    ended = subprocess.run(
        [
            sys.executable, "-m", "lab.races", *(f"--pair={pair}" for pair in PAIRS), "--schedules", str(SCHEDULES),
            "--seed", str(SEED), "--self-check",
        ],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert re.search(rf"^{len(PAIRS)} pairs, \d+ schedules, 0 broken$", ended.stdout, re.MULTILINE), ended.stdout
