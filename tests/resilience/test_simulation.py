"""A sample of seeded schedules of the whole marketplace; `make simulate` runs as many as time allows."""

import pytest

from tests.resilience.lab_program import run_lab

pytestmark = pytest.mark.long

SEEDS = 10
# Each of these plans has an erasure.
FIRST_WITH_EVERYONE, SEEDS_WITH_EVERYONE = 4, 3


def test_a_sample_of_schedules_ends_as_promised() -> None:
    """It also finds and shrinks a planted fault."""
    output = run_lab("lab.simulation", "--seeds", str(SEEDS), "--self-check")
    assert f"{SEEDS} seeds" in output
    assert "With a planted fault" in output


def test_users_are_notified_and_erased_in_a_sample_of_schedules() -> None:
    seeds = ("--first", str(FIRST_WITH_EVERYONE), "--seeds", str(SEEDS_WITH_EVERYONE))
    assert f"{SEEDS_WITH_EVERYONE} seeds" in run_lab("lab.simulation", *seeds, "--everyone")
