"""Runs a program of the lab, which replaces the connections and the broker of everything that it opens."""

import subprocess
import sys
from typing import Final

# Of `tests.resilience.samples`.
PAIRS: Final = (
    "dispatched: staff_cancels/pin_accepted",
    "paid: staff_release/staff_release",
    "unpaid: buyer_cancels/charge/payment_window_ended",
)
SCHEDULES: Final = 8
DEATHS: Final = ("one", "two", "together")
CRASHES: Final = 4


def run_lab(*arguments: str) -> str:
    """Return the output of `python -m <arguments>`, which must succeed."""
    ended = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout
