"""Processes die at a sample of the effects of a payout; `make crash-points` kills at all effects of all scenarios."""

import pytest

from tests.resilience.lab_program import run_lab

pytestmark = pytest.mark.long

SAMPLE, SEED = 16, 69


def test_a_payout_transfers_its_money_once_whichever_effect_a_process_dies_at() -> None:
    """It also finds a lost message."""
    chosen = ("--scenario", "payout", "--sample", str(SAMPLE), "--seed", str(SEED))
    output = run_lab("lab.crash_points", *chosen, "--self-check")
    assert f"{SAMPLE} crashes, 0 broken, 0 not reached" in output
