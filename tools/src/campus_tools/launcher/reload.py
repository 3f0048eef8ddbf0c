"""`make dev S=orders`: restart a service of the running system whenever its code changes."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import psutil
from watchfiles import PythonFilter, watch

from campus_tools.launcher.readiness import responds_ready
from operations.ports import port_base_of
from operations.processes import CAMPUS, ON_ONE_MACHINE, SystemPlan

STOP_SECONDS_MAX = 15.0
READY_SECONDS_MAX = 60.0
_EITHER = replace(CAMPUS, processes=(*CAMPUS.processes, *ON_ONE_MACHINE.processes))
"""Joined or split: only what runs is restarted."""


def main() -> int:
    """Watch until Ctrl-C. `S` names parts of the plan; without names every part is watched."""
    state_dir = Path(os.environ.get("STATE_DIR") or ".state")
    port_base = port_base_of(os.environ.get("PORT_BASE"))
    known = folders_of(Path(), CAMPUS)
    chosen = sys.argv[1:] or list(known)
    if unknown := [name for name in chosen if name not in known]:
        sys.stderr.write(f"There is no part {', '.join(unknown)}; there are {', '.join(known)}.\n")
        return 2
    if not (state_dir / "processes.json").exists():
        sys.stderr.write(f"No system runs from {state_dir}: start it with `make run` in another terminal.\n")
        return 1
    watched = {name: known[name] for name in chosen}
    folders = {folder for parts in watched.values() for folder in parts}
    print(f"watching {', '.join(sorted(map(str, folders)))}; Ctrl-C ends this", flush=True)
    for changes in watch(*folders, watch_filter=PythonFilter(), raise_interrupt=False):
        for name in changed_parts(watched, (Path(path) for _, path in changes)):
            for process, seconds in restart(_EITHER, name, state_dir, port_base).items():
                print(
                    f"{process} {'is not ready' if seconds is None else f'is ready after {seconds:.1f} s'}", flush=True
                )
    return 0


def folders_of(root: Path, plan: SystemPlan) -> dict[str, tuple[Path, ...]]:
    """Return the folders with the code of each part of the plan: its own, and what all of them share."""
    shared = root / "libs/common/src"
    names = dict.fromkeys(process.service for process in plan.processes)
    own = {name: next(one for one in (root / "services" / name, root / name) if one.is_dir()) for name in names}
    return {name: (folder / "src", shared) for name, folder in own.items()}


def changed_parts(watched: Mapping[str, Iterable[Path]], paths: Iterable[Path]) -> list[str]:
    """Return the parts whose folders contain one of the paths."""
    changed = [path.resolve() for path in paths]
    return [
        name
        for name, folders in watched.items()
        if any(path.is_relative_to(folder.resolve()) for path in changed for folder in folders)
    ]


def restart(plan: SystemPlan, part: str, state_dir: Path, port_base: int) -> dict[str, float | None]:
    """End the part's processes, which the launcher starts again. Return the seconds until each was ready, or None."""
    began = time.monotonic()
    running = {row["name"]: row["pid"] for row in json.loads((state_dir / "processes.json").read_text())}
    processes = [process for process in plan.processes if process.service == part and process.name in running]
    ending = [psutil.Process(running[one.name]) for one in processes if psutil.pid_exists(running.get(one.name, -1))]
    for process in ending:
        process.send_signal(signal.SIGTERM)
    psutil.wait_procs(ending, timeout=STOP_SECONDS_MAX)
    return {one.name: _ready_after(port_base + one.health_offset, began) for one in processes}


def _ready_after(port: int, began: float) -> float | None:
    while time.monotonic() < began + READY_SECONDS_MAX:
        if responds_ready(port):
            return time.monotonic() - began
        time.sleep(0.1)
    return None


if __name__ == "__main__":
    sys.exit(main())
