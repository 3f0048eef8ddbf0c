"""Processes die at a sample of the effects of a payout; `make crash-points` kills at all effects of all scenarios."""

import re

import pytest

from tests.resilience.lab_program import run_lab

pytestmark = pytest.mark.long

SAMPLE, SEED = 4, 69
DEATHS = ("one", "two", "together")


def test_a_payout_transfers_its_money_once_whichever_effects_processes_die_at() -> None:
    """It also finds a lost message."""
    deaths = [f"--deaths={number}" for number in DEATHS]
    chosen = ("--scenario", "payout", "--sample", str(SAMPLE), "--seed", str(SEED))
    output = run_lab("lab.crash_points", *chosen, *deaths, "--self-check")
    crashes = re.findall(r"^payout.*: \d+ points, (\d+) crashes, 0 broken, 0 not reached", output, re.MULTILINE)
    one, two, together = map(int, crashes)
    assert one == together == SAMPLE < two <= 2 * SAMPLE
