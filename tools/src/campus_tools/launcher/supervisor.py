"""Supervise processes: a process that dies is restarted with increasing back-off."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from campus_tools.children import open_log, record_process, signal_group, spawn, wait_until
from campus_tools.launcher.readiness import responds_ready
from campus_tools.launcher.runtimes import CHECKOUT, Program, Runtime
from campus_tools.servers import Server, ServerUnavailable

BACK_OFF_SECONDS = (0.5, 1.0, 2.0, 4.0, 5.0)
"""Back-off in seconds: short for a single crash, longer in a crash loop."""
STEADY_SECONDS = 5.0
"""Seconds after which a crash is no longer a crash loop, so that the shortest back-off applies."""
LOG_BYTES_MAX = 20_000_000
"""A larger log is rotated once at a start, which bounds `STATE_DIR`."""

Report = Callable[[str, str], None]
"""Print a message (second) about a process (first) in the merged log."""


@dataclass(frozen=True, slots=True)
class Supervision:
    """The folder of logs and process ids, the reports, and the runtime of all processes of a system.

    `changed` is called after each start of a process.
    """

    state_dir: Path
    report: Report
    changed: Callable[[], None]
    runtime: Runtime = CHECKOUT


class SupervisedProcess:
    """One supervised process."""

    def __init__(
        self, program: Program, environment: Mapping[str, str], supervision: Supervision, *, port: int, health_port: int
    ) -> None:
        self.name = name = program.name
        self.port = port
        self.health_port = health_port
        self.log_path = supervision.state_dir / "logs" / f"{name}.log"
        self.restarts = 0
        """How often it was restarted after it died."""
        self._program = program
        self._runtime = supervision.runtime
        self._environment = environment
        self._record = supervision.state_dir / "processes" / f"{name}.pid"
        self._report, self._changed = supervision.report, supervision.changed
        self._child: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._state = threading.Lock()
        self._watcher: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def start(self) -> None:
        """Start and supervise it."""
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        if self.log_path.exists() and self.log_path.stat().st_size > LOG_BYTES_MAX:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        self._stopping.clear()
        self._spawn()
        self._watcher = threading.Thread(target=self._watch, name=f"watch {self.name}", daemon=True)
        self._watcher.start()

    def kill(self) -> int:
        """`kill -9` it; it is restarted. Return the number of restarts before."""
        with self._state:
            before = self.restarts
            if self._child is not None:
                self._runtime.kill(self.name, self._child)
        return before

    def signal(self, number: signal.Signals) -> None:
        """Signal the process, with SIGSTOP and SIGCONT for example.

        Raises:
            ProcessLookupError: it is not running.
        """
        child = self._child
        if child is None or child.poll() is not None:
            raise ProcessLookupError(f"{self.name} is not running")
        self._runtime.signal(self.name, child, number)

    def restart_with(self, settings: Mapping[str, str | None]) -> int:
        """`kill` it; it is restarted with these settings changed. A setting that is None is removed."""
        merged = {**self._environment, **settings}
        self._environment = {name: text for name, text in merged.items() if text is not None}
        return self.kill()

    @property
    def is_encrypted(self) -> bool:
        """Return whether it serves TLS."""
        return "INSIDE_CERTIFICATE_FILE" in self._environment

    def is_ready(self) -> bool:
        """Return whether it reports readiness."""
        return responds_ready(self.health_port, self._environment["INSIDE_CA_FILE"] if self.is_encrypted else "")

    def has_environment(self, environment: Mapping[str, str]) -> bool:
        """Return whether the running process was started with this environment."""
        return self._environment == environment

    def roll(self, environment: Mapping[str, str], *, stop_within: float, ready_within: float) -> None:
        """Stop it in order, start it with this environment and wait until it is ready.

        Raises:
            TimeoutError: it does not become ready in time.
        """
        self.stop(stop_within)
        self._environment = environment
        self.start()
        if not wait_until(self.is_ready, within=ready_within):
            raise TimeoutError(f"{self.name} does not become ready. The end of {self.log_path}:\n{self.last_lines()}")

    def wait_restarted(self, after: int | None = None, within: float = 15.0) -> None:
        """Wait until it was restarted and is ready. `after`: the result of `kill`; `within`: seconds.

        Raises:
            TimeoutError: it did not restart in time.
        """
        restarts_min = 1 if after is None else after + 1
        if not wait_until(lambda: self.restarts >= restarts_min and self.is_ready(), within=within):
            raise TimeoutError(f"{self.name} did not restart within {within} s; it was restarted {self.restarts} times")

    def signal_stop(self) -> None:
        """Stop restarting it."""
        self._stopping.set()

    def stop(self, within: float) -> None:
        """Stop it in order, by force after `within` seconds."""
        self.signal_stop()
        with self._state:
            child = self._child
        if child is not None:
            self._runtime.stop(self.name, child, within)
        if self._watcher is not None:
            self._watcher.join()
            self._watcher = None
        self._child = None
        self._record.unlink(missing_ok=True)

    def last_lines(self) -> str:
        """Return the end of its log."""
        if not self.log_path.exists():
            return ""
        return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-20:])

    def _spawn(self) -> None:
        command, environment = self._runtime.command(self._program, self._environment)
        with open_log(self.log_path) as output:
            self._child = spawn(
                command, environment=environment, output=output, death_signal=self._runtime.death_signal
            )
        record_process(self._record, self._child.pid)
        self._changed()

    def _watch(self) -> None:
        deaths = 0
        while True:
            started = time.monotonic()
            child = self._child
            if child is None:
                return
            code = child.wait()
            if self._stopping.is_set():
                return
            # Its own children must not survive it.
            signal_group(child.pid, signal.SIGKILL)
            deaths = 0 if time.monotonic() - started > STEADY_SECONDS else deaths
            pause = BACK_OFF_SECONDS[min(deaths, len(BACK_OFF_SECONDS) - 1)]
            deaths += 1
            self._report(self.name, f"ended with {_describe(code)}; restarting it in {pause} s")
            if self._stopping.wait(pause):
                return
            with self._state:
                if self._stopping.is_set():
                    return
                self._spawn()
                self.restarts += 1


class WatchedServer:
    """Restart a private server after an unexpected end."""

    def __init__(self, server: Server, *, report: Report, changed: Callable[[], None]) -> None:
        self._server = server
        self._report = report
        self._changed = changed
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name=f"watch {server.name}", daemon=True)

    def start(self) -> None:
        """Supervise the running server."""
        if self._server.private:
            self._watcher.start()

    def stop(self) -> None:
        """Stop the supervision, not the server."""
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()

    def _watch(self) -> None:
        deaths = 0
        # A server that failed to start counts as not died, so `is_due` repeats the attempt.
        is_due = False
        while not self._stopping.wait(0.2):
            if not (is_due or self._server.has_died()):
                continue
            pause = BACK_OFF_SECONDS[min(deaths, len(BACK_OFF_SECONDS) - 1)]
            deaths += 1
            self._report(self._server.name, f"ended unexpectedly; restarting it in {pause} s")
            if self._stopping.wait(pause) or not (is_due or self._server.has_died()):
                continue
            try:
                self._server.start()
            except ServerUnavailable as error:
                is_due = True
                self._report(self._server.name, str(error))
            else:
                is_due = False
                self._report(self._server.name, "runs again")
            self._changed()


def _describe(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"
