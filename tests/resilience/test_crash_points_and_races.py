"""Samples of crash points and of races; `make crash-points` kills at all effects of all scenarios, and `make races`
runs 200 schedules of all pairs of actions.
"""

import re

import pytest

from tests.resilience.lab_program import CRASHES, PAIRS, run_lab

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def output() -> str:
    """Return what both programs print. They also find a lost message, and a race when no statement locks its rows."""
    return run_lab("tests.resilience.samples")


def test_a_payout_transfers_its_money_once_whichever_effects_processes_die_at(output: str) -> None:
    crashes = re.findall(r"^payout.*: \d+ points, (\d+) crashes, 0 broken, 0 not reached", output, re.MULTILINE)
    one, two, together = map(int, crashes)
    assert one == together == CRASHES < two <= 2 * CRASHES


def test_an_order_is_paid_out_or_refunded_however_actions_interleave(output: str) -> None:
    assert re.search(rf"^{len(PAIRS)} pairs, \d+ schedules, 0 broken$", output, re.MULTILINE), output
