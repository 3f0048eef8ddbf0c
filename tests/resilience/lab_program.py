"""Runs a program of the lab, which replaces the connections and the broker of everything that it opens."""

import subprocess
import sys


def run_lab(*arguments: str) -> str:
    """Return the output of `python -m <arguments>`, which must succeed."""
    ended = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout
