"""Load generators and reference servers: found, or installed by the system's package manager."""

import shutil
from pathlib import Path

from campus_tools.servers import ServerUnavailable
from campus_tools.servers.install import can_install, install
from campus_tools.servers.postgresql import find_binaries
from lab.systems import Log

_PACKAGES = {"nginx": "nginx-light", "wrk": "wrk"}


class BenchFailed(Exception):
    """A measurement is impossible; the message states the reason."""


def find_program(name: str, log: Log) -> str:
    """Return the program's path. Raises BenchFailed with the package to install."""
    found = shutil.which(name)
    if found is None and can_install():
        try:
            install([_PACKAGES[name]], why=f"{name} is not installed", report=log)
        except ServerUnavailable as error:
            raise BenchFailed(str(error)) from error
        found = shutil.which(name)
    if found is None:
        raise BenchFailed(f"{name} is missing: install it (Debian: sudo apt-get install {_PACKAGES[name]}).")
    return found


def find_pgbench(log: Log) -> str:
    """pgbench of the private server's version. Raises BenchFailed when it is missing."""
    bundled = find_binaries(log) / "pgbench"
    found = str(bundled) if Path(bundled).exists() else shutil.which("pgbench")
    if found is None:
        raise BenchFailed("pgbench is missing: install it (Debian: sudo apt-get install postgresql-contrib).")
    return found
