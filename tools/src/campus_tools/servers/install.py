"""Installing a missing server with the system's package manager."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from campus_tools.servers.errors import ServerUnavailable

_POLICY = Path("/usr/sbin/policy-rc.d")
_lists_are_fresh = False


def can_install() -> bool:
    """Whether packages can be installed: root, and apt."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: list[str], *, why: str, say: Callable[[str], None]) -> None:
    """Install Debian packages, or say by which command the reader can."""
    global _lists_are_fresh  # noqa: PLW0603 - the package lists are read once for the whole program
    if not can_install():
        raise ServerUnavailable(
            f"{why}, and it cannot be installed from here. Install it (Debian: sudo apt-get install "
            f"{' '.join(packages)}), start a Docker engine, or set DATABASE_URL and BROKER_URL."
        )
    say(f"{why}: installing {' '.join(packages)} with apt-get")
    if not _lists_are_fresh:
        _apt("update", say=say)
        _lists_are_fresh = True
    with _packages_start_nothing():
        _apt("install", "-y", "--no-install-recommends", *packages, say=say)


def _apt(*arguments: str, say: Callable[[str], None]) -> None:
    # Another installation may hold the lock for a while.
    command = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=180", *arguments]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as apt:
        lines: list[str] = []
        for line in apt.stdout or ():
            lines.append(line.rstrip())
            if line.startswith(("Get:", "Unpacking ", "Setting up ")):
                say(f"  {line.rstrip()}")
    if apt.returncode != 0:
        tail = "\n".join(lines[-15:])
        raise ServerUnavailable(f"{' '.join(command)} failed with code {apt.returncode}:\n{tail}")


@contextmanager
def _packages_start_nothing() -> Iterator[None]:
    """The packages' own services would listen on the standard ports; ours are private."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink(missing_ok=True)
