"""An empty machine that systemd boots: an overlay of this machine's files, with processes and a network of its own.

Power fails by SIGKILL of its first process; the next boot finds the same disk.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from campus_tools.children import open_log
from lab.bench.programs import BenchFailed

_GROUPS: Final = Path("/sys/fs/cgroup")
_BOOT_SECONDS_MAX: Final = 300.0
# The machine's root is the root of its namespace, as the sandboxes of units need it.
_DISK: Final = """
set -eu
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=/,upperdir=$ROOT/upper,workdir=$ROOT/work" "$ROOT/machine"
cd "$ROOT/machine"
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
"""
_PACKAGES: Final = """
for part in /dev /sys; do mount --rbind "$part" ".$part"; done
mkdir -p run/lock
exec chroot . "$@"
"""
_SYSTEMD: Final = """
mount -t tmpfs tmpfs dev -o mode=755
for device in null zero full random urandom tty; do : > "dev/$device"; mount --bind "/dev/$device" "dev/$device"; done
mkdir dev/pts dev/shm
mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t sysfs sysfs sys
if [ -d /sys/fs/cgroup/unified ]; then
    mount -t tmpfs tmpfs sys/fs/cgroup
    for group in memory pids; do
        mkdir "sys/fs/cgroup/$group"
        mount -t cgroup -o "$group" cgroup "sys/fs/cgroup/$group"
    done
    mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
    mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
else
    mount -t cgroup2 cgroup2 sys/fs/cgroup
fi
: > etc/machine-id
# The first four would change the kernel that both machines share. The others are no part of an empty machine: they are
# services of the machine below, such as a web server on port 80.
for unit in systemd-sysctl systemd-modules-load systemd-udevd systemd-networkd \
    nginx prometheus prometheus-alertmanager; do
    ln -sf /dev/null "etc/systemd/system/$unit.service"
done
mkdir -p mnt/before
pivot_root . mnt/before
umount -l /mnt/before
exec env -i container=drill PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal
"""


@dataclass(slots=True)
class EmptyMachine:
    """The machine. `disk` has what differs from this machine's files."""

    root: Path
    _unshare: subprocess.Popen[bytes] | None = None
    _first: psutil.Process | None = None

    @property
    def disk(self) -> Path:
        return self.root / "upper"

    def install(self, *packages: str) -> None:
        """Install packages of Debian, over this machine's network."""
        command = f"DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends {' '.join(packages)}"
        self._run(
            "unshare", "--mount", "--pid", "--fork", "--kill-child",
            "sh", "-c", _DISK + _PACKAGES, "sh", "sh", "-c", f"apt-get update -q && {command}",
        )  # fmt: skip

    def boot(self) -> None:
        """Start systemd as the first process, and wait until it has started what is enabled."""
        groups = [_GROUPS / name for name in ("memory", "pids", "systemd", "unified")]
        own = [folder / self.root.name for folder in groups if folder.is_dir()] or [_GROUPS / self.root.name]
        for folder in own:
            folder.mkdir(exist_ok=True)
        joining = "".join(f"echo $$ > {folder}/cgroup.procs\n" for folder in own)
        spaces = "unshare --mount --pid --net --ipc --uts --cgroup --fork --kill-child"
        self._unshare = subprocess.Popen(
            ["sh", "-c", f'{joining}exec {spaces} sh -c "$0"', _DISK + _SYSTEMD],
            env={"ROOT": str(self.root), "PATH": os.environ["PATH"]},
            stdin=subprocess.DEVNULL,
            stdout=open_log(self.root / "boot.log"),
            stderr=subprocess.STDOUT,
        )
        deadline = time.monotonic() + _BOOT_SECONDS_MAX
        while not (state := self._state()):
            if self._unshare.poll() is not None or time.monotonic() > deadline:
                raise BenchFailed(f"systemd does not start: {(self.root / 'boot.log').read_text()[-2000:]}")
            time.sleep(0.2)
        if state not in ("running", "degraded"):
            raise BenchFailed(f"systemd is {state} after the boot")

    def run(self, *command: str) -> str:
        """Run a command on the booted machine, and return its output. Raises BenchFailed."""
        return self._run(*self._entering(), *command)

    def fail_power(self) -> None:
        """Kill every process of the machine at once."""
        if self._first is not None:
            self._first.kill()
        if self._unshare is not None:
            self._unshare.wait()
        self._first = self._unshare = None

    def copy_from(self, other: "EmptyMachine", *paths: str) -> None:
        """Copy files and folders of another machine that is off, with their owners."""
        for path in paths:
            (self.disk / path).parent.mkdir(parents=True, exist_ok=True)
            self._run("cp", "-a", str(other.disk / path), str(self.disk / path))

    def remove(self) -> None:
        """Remove the machine with its disk and groups."""
        self.fail_power()
        shutil.rmtree(self.root, ignore_errors=True)
        for group in sorted(_GROUPS.glob(f"*/{self.root.name}/**/"), reverse=True):
            group.rmdir()

    def _state(self) -> str:
        """Return the state of systemd when it has started what is enabled; empty while it cannot be shown."""
        if self._first is None:
            children = psutil.Process(self._unshare.pid).children() if self._unshare else []
            if not children or children[0].name() != "systemd":
                return ""
            self._first = children[0]
        shown = subprocess.run(
            [*self._entering(), "systemctl", "is-system-running", "--wait"],
            capture_output=True,
            text=True,
            timeout=_BOOT_SECONDS_MAX,
            check=False,
        )
        return shown.stdout.strip().replace("offline", "")

    def _entering(self) -> list[str]:
        if self._first is None:
            raise BenchFailed("the machine is off")
        spaces = ("--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup")
        return ["nsenter", "--target", str(self._first.pid), *spaces, "--wdns=/"]

    def _run(self, *command: str) -> str:
        ended = subprocess.run(
            command,
            env={"ROOT": str(self.root), "PATH": os.environ["PATH"], "HOME": "/root", "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            raise BenchFailed(f"{' '.join(command)[-200:]}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        return ended.stdout


@contextmanager
def empty_machine(name: str) -> Iterator[EmptyMachine]:
    """Yield a machine that is off, and remove it at the end."""
    machine = EmptyMachine(Path(f"/var/tmp/campus-{name}-{os.getpid()}"))
    for name in ("upper", "work", "machine"):
        (machine.root / name).mkdir(parents=True)
    try:
        yield machine
    finally:
        machine.remove()
