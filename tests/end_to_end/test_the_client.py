"""The Python client's example runs a whole purchase against the running system."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from campus_tools.launcher.system import System

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "clients/python/examples/journey.py"
SECONDS_MAX = 180


async def test_the_example_of_the_client_buys_something_and_takes_it_over(system: System) -> None:
    command = [sys.executable, str(EXAMPLE), "--base-url", system.base_url, "--sandbox-url", system.sandbox_url]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
        "DEMO_PASSWORD": system.secrets["DEMO_PASSWORD"],
    }
    played = await asyncio.to_thread(
        subprocess.run,
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    lines = played.stdout.splitlines()
    assert lines[0].startswith("chosen: ")
    assert [line.rpartition(": ")[2] for line in lines[2:5]] == ["paid_escrow", "dispatched", "delivered"]
    assert lines[-1] == "found again in the list of orders: 1"
