"""Both ledgers follow from the recorded inputs of a sample of schedules; `make replay-check` runs more of them."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

SEEDS = 6


def test_both_ledgers_are_rebuilt_from_their_inputs_and_planted_postings_are_found() -> None:
    """In a program of its own, which replaces the broker of everything that it opens."""
    ended = subprocess.run(
        [sys.executable, "-m", "lab.simulation", "--replay", "--seeds", str(SEEDS), "--self-check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert f"{SEEDS} seeds" in ended.stdout
    assert "planted postings, all found" in ended.stdout
