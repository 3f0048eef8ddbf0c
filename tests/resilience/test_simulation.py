"""A sample of seeded schedules of the whole marketplace; `make simulate` runs as many as time allows."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

SEEDS = 10
# Each of these plans has an erasure.
FIRST_WITH_EVERYONE, SEEDS_WITH_EVERYONE = 4, 3


def test_a_sample_of_schedules_ends_as_promised() -> None:
    """It also finds and shrinks a planted fault."""
    output = _simulate("--seeds", str(SEEDS), "--self-check")
    assert f"{SEEDS} seeds" in output
    assert "With a planted fault" in output


def test_users_are_notified_and_erased_in_a_sample_of_schedules() -> None:
    seeds = ("--first", str(FIRST_WITH_EVERYONE), "--seeds", str(SEEDS_WITH_EVERYONE))
    assert f"{SEEDS_WITH_EVERYONE} seeds" in _simulate(*seeds, "--everyone")


def _simulate(*arguments: str) -> str:
    """Return the output of a program of its own, which replaces the broker of everything that it opens."""
    ended = subprocess.run(
        [sys.executable, "-m", "lab.simulation", *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout
