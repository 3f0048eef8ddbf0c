"""A sample of seeded schedules of the whole marketplace; `make simulate` runs as many as time allows."""

import pytest

from tests.resilience.lab_program import run_lab

pytestmark = pytest.mark.long

# Three of these plans have an erasure.
FIRST, SEEDS = 205, 4


def test_a_sample_of_schedules_ends_as_promised() -> None:
    """Messages are sent, and users are erased; a planted fault is found and shrunk."""
    seeds = ("--first", str(FIRST), "--seeds", str(SEEDS))
    output = run_lab("lab.simulation", *seeds, "--everyone", "--self-check")
    assert f"{SEEDS} seeds" in output
    assert "With a planted fault" in output
