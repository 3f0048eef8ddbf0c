"""Install a missing server with the system's package manager."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from campus_tools.servers.errors import ServerUnavailable

_POLICY = Path("/usr/sbin/policy-rc.d")
_lists_are_fresh = False
_one_at_a_time = threading.Lock()
"""PostgreSQL and RabbitMQ are installed concurrently; apt runs one installation at a time."""
LOCK_SECONDS_MAX = 180.0
"""Seconds to wait for another installation on the machine."""


def can_install() -> bool:
    """Return whether packages can be installed: root, and apt."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: list[str], *, why: str, report: Callable[[str], None]) -> None:
    """Install Debian packages. Raises ServerUnavailable with the command to run."""
    if not can_install():
        raise ServerUnavailable(
            f"{why}, and it cannot be installed from here. Install it (Debian: sudo apt-get install "
            f"{' '.join(packages)}), start a Docker engine, or set DATABASE_URL and BROKER_URL."
        )
    report(f"{why}: installing {' '.join(packages)} with apt-get")
    with _one_at_a_time:
        _refresh_lists(report)
        with _packages_start_nothing():
            _apt("install", "-y", "--no-install-recommends", *packages, report=report)


def _refresh_lists(report: Callable[[str], None]) -> None:
    global _lists_are_fresh  # noqa: PLW0603 - the package lists are read once for the whole program
    if _lists_are_fresh:
        return
    deadline = time.monotonic() + LOCK_SECONDS_MAX
    while True:
        try:
            _apt("update", report=report)
        except ServerUnavailable as error:
            # The option below makes apt wait for the lock of the packages, but not for that of the lists.
            if "Could not get lock" not in str(error) or time.monotonic() > deadline:
                raise
            report("another program is using apt; waiting for it")
            time.sleep(2)
        else:
            _lists_are_fresh = True
            return


def _apt(*arguments: str, report: Callable[[str], None]) -> None:
    command = ["apt-get", "-q", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS_MAX:.0f}", *arguments]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as apt:
        lines: list[str] = []
        for line in apt.stdout or ():
            lines.append(line.rstrip())
            if line.startswith(("Get:", "Unpacking ", "Setting up ")):
                report(f"  {line.rstrip()}")
    if apt.returncode != 0:
        tail = "\n".join(lines[-15:])
        raise ServerUnavailable(f"{' '.join(command)} failed with code {apt.returncode}:\n{tail}")


@contextmanager
def _packages_start_nothing() -> Iterator[None]:
    """Keep the packages' own services from starting on the standard ports."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink(missing_ok=True)
