"""A stand-in for `systemctl` where systemd does not run: it starts the ExecStart lines of units, with their user,
environment, limit of memory and restarts.

    python systemctl.py start orders.service

Known: enable, is-enabled, start, stop, restart, is-active, daemon-reload; types exec, notify, forking and oneshot.
"""

import contextlib
import grp
import os
import pwd
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FOLDER: Final = Path("/run/systemctl-drill")
LOGS: Final = Path("/var/log/systemctl-drill")
UNITS: Final = (Path("/etc/systemd/system"), Path("/lib/systemd/system"))
CGROUPS: Final = Path("/sys/fs/cgroup/memory/campus-drill")
_START_SECONDS_MAX: Final = 90.0
_LISTS: Final = frozenset({"ExecStart", "ExecStop", "Environment", "EnvironmentFile"})


class Unit:
    """A unit with its drop-ins: the last value of each key, and all values of the keys that are lists."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[str, list[str]] = {}
        for path in self._files():
            for key, value in _lines(path):
                if key in _LISTS and value:
                    self.values.setdefault(key, []).append(value)
                elif key in _LISTS:
                    self.values[key] = []
                else:
                    self.values[key] = [value]

    def value(self, key: str, default: str = "") -> str:
        text = (self.values.get(key) or [default])[-1]
        return text.replace("%i", self._instance)

    @property
    def _instance(self) -> str:
        return self.name.partition("@")[2].rpartition(".")[0]

    def _files(self) -> Iterator[Path]:
        template = re.sub("@.*\\.", "@.", self.name)
        found = [folder / name for name in (self.name, template) for folder in UNITS if (folder / name).exists()]
        if not found:
            sys.exit(f"Unit {self.name} not found.")
        yield found[0]
        yield from sorted((UNITS[0] / f"{self.name}.d").glob("*.conf"))

    def arguments(self, key: str) -> list[str]:
        return shlex.split(self.value(key).lstrip("-"))

    def environment(self) -> dict[str, str]:
        variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        for name in self.values.get("EnvironmentFile", []):
            for line in Path(name.lstrip("-")).read_text().splitlines():
                key, _, text = line.partition("=")
                variables[key] = "".join(shlex.split(text))
        return variables

    @property
    def mark(self) -> Path:
        return FOLDER / self.name

    @property
    def is_active(self) -> bool:
        if not self.mark.exists():
            return False
        pid = int(self.mark.read_text() or 0)
        return pid == 0 or Path(f"/proc/{pid}").exists()


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().replace("\\\n", " ").splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith(("#", ";")):
            yield key.strip(), value.strip()


def start(unit: Unit) -> None:
    if unit.is_active:
        return
    if not unit.values.get("ExecStart") or unit.name.startswith("systemd-"):
        unit.mark.write_text("0")
        for dependency in unit.value("Wants").split() if unit.name.endswith(".target") else []:
            start(Unit(dependency))
        return
    if unit.value("Type") == "oneshot":
        sys.exit(subprocess.run(unit.arguments("ExecStart"), env=unit.environment(), check=False).returncode)
    if unit.value("Type") == "forking":
        # Its program inherits the group of this process, which ends soon.
        _limit(unit, os.getpid())
        with _log(unit) as log:
            code = subprocess.run(
                unit.arguments("ExecStart"), env=unit.environment(), stdout=log, stderr=log,
                check=False,
            ).returncode  # fmt: skip
        pid_file = Path(unit.value("PIDFile").replace("/run/postgresql/", "/var/run/postgresql/"))
        if code != 0:
            sys.exit(f"{unit.name} failed with code {code}: {(LOGS / unit.name).read_text()[-2000:]}")
        unit.mark.write_text(pid_file.read_text().splitlines()[0] if pid_file.exists() else "0")
        return
    ready, started = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(ready)
        # The caller reads the output of this program to its end.
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(quiet, descriptor)
        _supervise(unit, started)
        os._exit(0)
    os.close(started)
    if not os.read(ready, 1):
        sys.exit(f"{unit.name} did not start: {(LOGS / unit.name).read_text()[-2000:]}")


def _supervise(unit: Unit, started: int) -> None:
    """Run the program, again after its end while the unit is not stopped."""
    restarts = unit.value("Restart", "no") != "no"
    while True:
        with _log(unit) as log, _notifications(unit) as notified:
            child = _spawn(unit, log)
            _limit(unit, child.pid)
            unit.mark.write_text(str(child.pid))
            if unit.value("Type") == "notify" and not _wait_notified(notified, child):
                os.close(started)
                return
            with contextlib.suppress(OSError):
                os.write(started, b"1")
                os.close(started)
            child.wait()
        if not restarts or not unit.mark.exists() or unit.mark.read_text() != str(child.pid):
            return
        time.sleep(float(unit.value("RestartSec", "1").rstrip("s")))


def _spawn(unit: Unit, log: int) -> "subprocess.Popen[bytes]":
    environment = {**unit.environment(), "NOTIFY_SOCKET": str(unit.mark) + ".notify"}
    user = unit.value("User") or None
    groups: list[int] = []
    if user is not None:
        account = pwd.getpwnam(user)
        environment |= {"HOME": account.pw_dir, "USER": user, "LOGNAME": user}
        groups = [group.gr_gid for group in grp.getgrall() if user in group.gr_mem]
        if folder := unit.value("RuntimeDirectory"):
            Path("/run", folder).mkdir(exist_ok=True)
            os.chown(Path("/run", folder), account.pw_uid, account.pw_gid)
    return subprocess.Popen(
        unit.arguments("ExecStart"),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        user=user,
        group=unit.value("Group") or (pwd.getpwnam(user).pw_gid if user else None),
        extra_groups=groups or None,
        umask=int(unit.value("UMask", "0022"), 8),
        cwd=unit.value("WorkingDirectory", "/"),
        start_new_session=True,
    )


def _limit(unit: Unit, pid: int) -> None:
    """Put a process into a control group with the limit of memory of its unit."""
    if not CGROUPS.parent.exists() or not (limit := unit.value("MemoryMax")):
        return
    group = CGROUPS / unit.name
    group.mkdir(parents=True, exist_ok=True)
    (group / "memory.limit_in_bytes").write_text(limit)
    (group / "cgroup.procs").write_text(str(pid))


@contextlib.contextmanager
def _log(unit: Unit) -> Iterator[int]:
    LOGS.mkdir(exist_ok=True)
    descriptor = os.open(LOGS / unit.name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _notifications(unit: Unit) -> Iterator[socket.socket]:
    path = Path(str(unit.mark) + ".notify")
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.settimeout(1)
        yield listener


def _wait_notified(notified: socket.socket, child: "subprocess.Popen[bytes]") -> bool:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(TimeoutError):
            if b"READY=1" in notified.recv(4096):
                return True
    return False


def stop(unit: Unit) -> None:
    if not unit.is_active:
        return
    pid = int(unit.mark.read_text() or 0)
    unit.mark.unlink()
    if unit.values.get("ExecStop"):
        subprocess.run(unit.arguments("ExecStop"), env=unit.environment(), check=False, capture_output=True)
    elif pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _START_SECONDS_MAX
    while pid and Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    verb, *names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if verb == "daemon-reload":
        return 0
    units = [Unit(name if "." in name.rpartition("@")[2] else f"{name}.service") for name in names]
    if verb == "is-active":
        return 0 if all(unit.is_active for unit in units) else 3
    if verb in ("enable", "is-enabled"):
        marks = [FOLDER / f"{unit.name}.enabled" for unit in units]
        if verb == "is-enabled":
            return 0 if all(mark.exists() for mark in marks) else 1
        for mark in marks:
            mark.touch()
        return 0
    for unit in units:
        if verb in ("stop", "restart"):
            stop(unit)
        if verb in ("start", "restart"):
            start(unit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
