"""CPU time and memory of process trees: the servers' own, never the load generator's."""

from collections.abc import Iterable, Sequence

import psutil

MIB = 1024 * 1024


class Meter:
    """User and system time of some processes with all that they started, children that have ended included."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = list(pids)

    def seconds(self) -> float:
        """All time so far; two readings make a difference."""
        return sum(_spent(process) for pid in self._pids for process in _tree(pid))


def resident_mib(pids: Sequence[int]) -> float:
    """Resident memory of the processes, pages shared between them counted in each."""
    return sum(psutil.Process(pid).memory_info().rss for pid in pids) / MIB


def proportional_mib(pids: Sequence[int]) -> float:
    """The same with each shared page divided among those who share it (PSS)."""
    return sum(psutil.Process(pid).memory_full_info().pss for pid in pids) / MIB


def _tree(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _spent(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        # It ended just now: its parent has its time.
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)
