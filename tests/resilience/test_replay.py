"""Both ledgers follow from the recorded inputs of a sample of schedules; `make replay-check` runs more of them."""

import pytest

from tests.resilience.lab_program import run_lab

pytestmark = pytest.mark.long

SEEDS = 6


def test_both_ledgers_are_rebuilt_from_their_inputs_and_planted_postings_are_found() -> None:
    output = run_lab("lab.simulation", "--replay", "--seeds", str(SEEDS), "--self-check")
    assert f"{SEEDS} seeds" in output
    assert "planted postings, all found" in output
