"""CPU time and memory of the servers' process trees, without the load generator."""

from collections.abc import Iterable, Sequence

import psutil

MIB = 1024 * 1024


class Meter:
    """User and system time of processes and of all their children, exited ones included."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = list(pids)

    def seconds(self) -> float:
        """Seconds since the start of the processes."""
        return sum(_spent(process) for pid in self._pids for process in _tree(pid))


def resident_mib(pids: Sequence[int]) -> float:
    """Resident memory of the processes; each counts its shared pages in full (RSS)."""
    return sum(psutil.Process(pid).memory_info().rss for pid in pids) / MIB


def proportional_mib(pids: Sequence[int]) -> float:
    """Memory of the processes; shared pages are divided among their users (PSS)."""
    return sum(psutil.Process(pid).memory_full_info().pss for pid in pids) / MIB


def _tree(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _spent(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        # The process exited: its time is included in its parent's.
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)
