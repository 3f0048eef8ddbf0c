"""CPU time and memory of the servers' process trees, without the load generator."""

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import psutil

MIB = 1024 * 1024


class Meter:
    """User and system time of processes and of all their children, exited ones included."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = list(pids)

    def seconds(self) -> float:
        """Seconds since the start of the processes."""
        return sum(tree_seconds(self._pids).values())


def tree_seconds(pids: Collection[int]) -> dict[int, float]:
    """Return the seconds of each process with all its children, in one pass over the processes of the machine."""
    children = defaultdict[int, list[psutil.Process]](list)
    for process in psutil.process_iter(["ppid"]):
        children[process.info["ppid"]].append(process)
    return {pid: _spent(psutil.Process(pid)) + _of_children(pid, children) for pid in pids}


def resident_mib(pids: Sequence[int]) -> float:
    """Resident memory of the processes; each counts its shared pages in full (RSS)."""
    return sum(psutil.Process(pid).memory_info().rss for pid in pids) / MIB


def proportional_mib(pids: Sequence[int]) -> float:
    """Memory of the processes; shared pages are divided among their users (PSS)."""
    return sum(psutil.Process(pid).memory_full_info().pss for pid in pids) / MIB


def with_children(pids: Sequence[int]) -> list[int]:
    """Return the processes and all their children."""
    return [*pids, *(child.pid for pid in pids for child in psutil.Process(pid).children(recursive=True))]


def _of_children(pid: int, children: dict[int, list[psutil.Process]]) -> float:
    return sum(_spent(child) + _of_children(child.pid, children) for child in children.get(pid, ()))


def _spent(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
        return own_seconds(process.pid) + float(times.children_user + times.children_system)
    except psutil.NoSuchProcess:
        # The process exited: its time is included in its parent's.
        return 0.0


def own_seconds(pid: int) -> float:
    """User and system time of one process without its children. Raises psutil.NoSuchProcess.

    The scheduler counts the living threads in nanoseconds, `cpu_times` also exited threads in ticks of ten
    milliseconds.
    """
    times, scheduled = psutil.Process(pid).cpu_times(), 0
    try:
        threads = list(Path(f"/proc/{pid}/task").glob("*/schedstat"))
    except FileNotFoundError:
        # It exited after the line above.
        raise psutil.NoSuchProcess(pid) from None
    for thread in threads:
        with contextlib.suppress(OSError):
            scheduled += int(thread.read_text().split()[0])
    return max(float(times.user + times.system), scheduled / 1e9)
