"""Two versions of the system on one machine: each is started by its own launcher, from its own environment."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from campus_tools.children import open_log, spawn, stop_child
from campus_tools.launcher.ports import free_port_base
from lab.bench.programs import BenchFailed
from lab.systems import NO_QUOTA, NO_TRACING, Log, RunningSystem
from operations.environment import callers_environment

_ROOT: Final = Path(__file__).parents[4]
_READY_SECONDS_MAX: Final = 180.0
# What the launcher of each version writes when its processes are ready.
_LAST_LINE: Final = "Ctrl-C stops everything"


@dataclass(frozen=True, slots=True)
class Version:
    """A checkout of the project with its environment."""

    name: str
    folder: Path
    python: Path


def this_version() -> Version:
    """Return the working tree."""
    return Version("working tree", _ROOT, Path(sys.executable))


def version_of(commit: str, log: Log) -> Version:
    """Check out and install a commit. Later runs on this machine reuse the folder. Raises BenchFailed."""
    found = _run("git", "rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()[:12]
    folder = Path(tempfile.gettempdir()) / f"campus-version-{found}"
    version = Version(found, folder, folder / ".venv/bin/python")
    if not folder.exists():
        log(f"checking out {found}")
        draft = Path(tempfile.mkdtemp(prefix="campus-version-"))
        _run("git", "clone", "--quiet", "--shared", "--no-checkout", str(_ROOT), str(draft))
        _run("git", "checkout", "--quiet", "--detach", found, folder=draft)
        draft.rename(folder)
    log(f"installing {found}")
    _run("tools/setup", folder=folder)
    return version


@asynccontextmanager
async def running_version(version: Version, log: Log) -> AsyncIterator[RunningSystem]:
    """Start the version's launcher; it is stopped and its state removed at the end. Raises BenchFailed."""
    with tempfile.TemporaryDirectory(prefix="campus-bench-", ignore_cleanup_errors=True) as folder:
        state_dir, port_base, began = Path(folder), free_port_base(), time.monotonic()
        more = {"STATE_DIR": folder, "PORT_BASE": str(port_base), "RATE_LIMIT_STORE_URL": ""}
        environment = callers_environment(
            {**NO_QUOTA, **NO_TRACING, **more, "VIRTUAL_ENV": str(version.folder / ".venv")}
        )
        output = state_dir / "launcher.log"
        with open_log(output) as log_file:
            child = spawn(
                # PostgreSQL's user must reach its data directory, which the umask of `spawn` would forbid.
                ["sh", "-c", 'umask 022 && exec "$0" -m campus_tools.launcher', str(version.python)],
                environment=environment,
                output=log_file,
                death_signal="TERM",
                directory=version.folder,
            )
        try:
            while _LAST_LINE not in output.read_text(errors="replace"):
                if child.poll() is not None or time.monotonic() > began + _READY_SECONDS_MAX:
                    raise BenchFailed(f"{version.name} does not become ready:\n{output.read_text()[-3000:]}")
                await asyncio.sleep(0.2)
            log(f"{version.name} is ready after {time.monotonic() - began:.0f} s")
            yield RunningSystem.at(state_dir, port_base)
        finally:
            await asyncio.to_thread(stop_child, child, within=15.0)


def _run(*command: str, folder: Path = _ROOT) -> bytes:
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if ran.returncode != 0:
        raise BenchFailed(f"{' '.join(command)}: {ran.stderr.decode(errors='replace').strip()}")
    return ran.stdout
