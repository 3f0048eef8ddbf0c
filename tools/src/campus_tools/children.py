"""Child processes that end with the program that started them."""

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO

import psutil

STOP_SECONDS_MAX = 5.0
"""Seconds that a child may take to stop by itself; an HTTP server drains within this time."""
OWNER_ONLY_UMASK = 0o077
"""File mode of children's files: they hold messages, images and queues, and are private."""


class _Spawner:
    """Start every child from one thread that lives as long as the program.

    Linux sends the parent-death signal when the *thread* that forked ends, not the process: a child started from a
    worker thread of an executor would be killed as soon as that executor is shut down.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], subprocess.Popen[bytes]], Future[subprocess.Popen[bytes]]]]
        self._jobs = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, job: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="spawner", daemon=True)
                self._thread.start()
        result: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((job, result))
        return result.result()

    def _serve(self) -> None:
        while True:
            job, result = self._jobs.get()
            try:
                result.set_result(job())
            except BaseException as error:
                result.set_exception(error)


_spawner = _Spawner()


def spawn(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    output: IO[bytes],
    death_signal: str = "KILL",
    user: tuple[int, int] | None = None,
    directory: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own; it gets `death_signal` when this program dies, however it dies.

    `user` is a (user id, group id) to drop to. The process id stays that of the command: `setpriv` replaces itself.
    """
    options = ["--pdeathsig", death_signal]
    if user is not None:
        options += ["--reuid", str(user[0]), "--regid", str(user[1]), "--clear-groups"]
    setpriv = shutil.which("setpriv")
    if setpriv is None and user is not None:
        raise FileNotFoundError("setpriv is needed to drop root's rights: install the package util-linux")
    # Without setpriv (not Linux) only the process records, checked at the next start, find leftover children.
    full_command = [*([setpriv, *options, "--"] if setpriv else []), *command]
    return _spawner.run(
        lambda: subprocess.Popen(
            full_command,
            env=dict(environment),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=OWNER_ONLY_UMASK,
        )
    )


def open_log(path: Path) -> IO[bytes]:
    """Open a log for appending, readable by its owner only."""
    log = os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")
    os.fchmod(log.fileno(), 0o600)
    return log


def signal_group(process_id: int, number: signal.Signals) -> None:
    """Signal a child and everything it started; a group that has ended is no error."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process_id, number)


def stop_child(
    child: subprocess.Popen[bytes], *, first: signal.Signals = signal.SIGTERM, within: float = STOP_SECONDS_MAX
) -> None:
    """Stop the child, then kill the rest of its process group."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(first)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(within)
    signal_group(child.pid, signal.SIGKILL)
    child.wait()


def kill_child(child: subprocess.Popen[bytes]) -> None:
    """`kill -9` the child and its process group."""
    if child.poll() is None:
        signal_group(child.pid, signal.SIGKILL)
    child.wait()


def record_process(path: Path, process_id: int) -> None:
    """Record a process by id and start time, so that a reused id is not mistaken for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # An ended process needs no record.
    with contextlib.suppress(psutil.NoSuchProcess):
        path.write_text(f"{process_id} {psutil.Process(process_id).create_time():.2f}\n")


def recorded_process(path: Path) -> psutil.Process | None:
    """Return the process recorded in `path` while it is alive."""
    try:
        words = path.read_text().split()
        process = psutil.Process(int(words[0]))
        same = abs(process.create_time() - float(words[1])) < 1.0
    except (FileNotFoundError, ValueError, IndexError, psutil.NoSuchProcess):
        return None
    return process if same and process.status() != psutil.STATUS_ZOMBIE else None


def end_recorded_process(path: Path, *, first: signal.Signals = signal.SIGTERM) -> bool:
    """End a process of an earlier, crashed run. Return whether there was one."""
    process = recorded_process(path)
    if process is not None:
        signal_group(process.pid, first)
        try:
            process.wait(STOP_SECONDS_MAX)
        except psutil.TimeoutExpired:
            signal_group(process.pid, signal.SIGKILL)
            process.wait(STOP_SECONDS_MAX)
    path.unlink(missing_ok=True)
    return process is not None


def wait_until(
    ready: Callable[[], bool], *, within: float, child: subprocess.Popen[bytes] | None = None, step: float = 0.05
) -> bool:
    """Poll `ready` until it is true. Return false when the time is over or the child has ended."""
    deadline = time.monotonic() + within
    while not ready():
        if time.monotonic() > deadline or (child is not None and child.poll() is not None):
            return False
        time.sleep(step)
    return True
