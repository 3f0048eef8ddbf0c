"""A sample of seeded schedules of the whole marketplace; `make simulate` runs as many as time allows."""

import subprocess
import sys

SEEDS = 10


def test_a_sample_of_schedules_ends_as_promised() -> None:
    """In a program of its own, which replaces the broker of everything that it opens. It also finds and shrinks a planted fault."""
    ended = subprocess.run(
        [sys.executable, "-m", "lab.simulation", "--seeds", str(SEEDS), "--self-check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert f"{SEEDS} seeds" in ended.stdout
    assert "With a planted fault" in ended.stdout
