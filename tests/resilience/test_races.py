"""A sample of the races; `make races` runs 200 schedules of all pairs of actions."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

PAIR, SCHEDULES, SEED = "dispatched: staff_cancels/pin_accepted", 12, 76


def test_an_order_is_delivered_or_refunded_however_two_commands_interleave() -> None:
    """In a program of its own, as the crash points. It also proves that it finds a race when no statement locks its rows."""
    ended = subprocess.run(
        [sys.executable, "-m", "lab.races", "--pair", PAIR, "--schedules", str(SCHEDULES), "--seed", str(SEED), "--self-check"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert f"1 pairs, {SCHEDULES} schedules, 0 broken" in ended.stdout
