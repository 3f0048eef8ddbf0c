"""The processor time of a process across restarts."""

import psutil

from campus_tools.launcher.supervisor import SupervisedProcess


class ProcessorTime:
    """The processor time of a process from now on, in seconds of user and system time."""

    def __init__(self, process: SupervisedProcess) -> None:
        self._process, self._before = process, 0.0
        self._before = -self._now()

    def seconds(self) -> float:
        return self._before + self._now()

    def note_death(self) -> None:
        """Add the time of the process before it is killed."""
        self._before += self._now()

    def _now(self) -> float:
        pid = self._process.pid
        if pid is None:
            return 0.0
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
