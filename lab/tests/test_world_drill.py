"""The parts of the world drill: the preloaded shim, and what of a client's responses the contract forbids."""

import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from lab.drills.world.drill import Responses, drill_world
from lab.drills.world.faults import FAULTS
from lab.drills.world.shim import ALWAYS, Shim

SYNC_TWICE = """
import os, sys
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for _ in range(2):
    try:
        os.write(file, b"1"); os.fsync(file); print("synced")
    except OSError as error:
        print(error.errno)
"""


def test_the_shim_fails_a_disk_and_steps_a_clock(tmp_path: Path) -> None:
    shim = Shim.build(tmp_path / "shim", tmp_path / "data")
    (tmp_path / "data").mkdir()

    def output(script: str, folder: str) -> list[str]:
        command = [sys.executable, "-c", script, str(tmp_path / folder)]
        return subprocess.run(command, env=shim.environment, capture_output=True, text=True, check=True).stdout.split()

    assert output(SYNC_TWICE, "data/file") == ["synced", "synced"]
    shim.set(syncs=1)
    assert output(SYNC_TWICE, "data/file") == ["5", "synced"]
    shim.set(writes=ALWAYS)
    assert output(SYNC_TWICE, "data/file") == ["5", "5"]
    assert output(SYNC_TWICE, "elsewhere") == ["synced", "synced"]
    shim.set(clock_seconds=-86_400)
    assert float(output("import time; print(time.time())", "data")[0]) < time.time() - 86_000


async def test_the_drill_ends_before_its_first_fault_without_a_packet_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ChildProcessError, match="nft is not installed"):
        await drill_world(tmp_path, list(FAULTS), 1.0, 1.0, lambda text: None)


async def test_a_500_and_a_503_without_retry_after_are_forbidden() -> None:
    responses, request = Responses(), httpx.Request("GET", "http://none/api/orders")
    for status, headers in ((200, {}), (404, {}), (503, {"Retry-After": "1"}), (409, {}), (503, {}), (500, {})):
        await responses.record(httpx.Response(status, headers=headers, request=request))
    assert responses.forbidden == [f"GET /api/orders: {status} " for status in (503, 500)]
