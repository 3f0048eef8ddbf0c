"""Processes die at a sample of the effects of a payout; `make crash-points` kills at all effects of all scenarios."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

SAMPLE, SEED = 16, 69


def test_a_payout_transfers_its_money_once_whichever_effect_a_process_dies_at() -> None:
    """In a program of its own, which wraps the connections of everything that it opens. It also proves that it finds a lost message."""
    ended = subprocess.run(
        [sys.executable, "-m", "lab.crash_points", "--scenario", "payout", "--sample", str(SAMPLE), "--seed", str(SEED), "--self-check"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert f"{SAMPLE} crashes, 0 broken, 0 not reached" in ended.stdout
