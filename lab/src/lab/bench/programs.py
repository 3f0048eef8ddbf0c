"""Programs that make the load or are the limit: found, or installed with the system's package manager."""

import shutil
from pathlib import Path

from campus_tools.servers import ServerUnavailable
from campus_tools.servers.install import can_install, install
from campus_tools.servers.postgresql import find_binaries
from lab.systems import Log

_PACKAGES = {"nginx": "nginx-light", "wrk": "wrk"}


class BenchFailed(Exception):
    """A measurement could not be made; the message says why."""


def find_program(name: str, log: Log) -> str:
    """The program's path. Raises BenchFailed with what to install."""
    found = shutil.which(name)
    if found is None and can_install():
        try:
            install([_PACKAGES[name]], why=f"{name} is not installed", say=log)
        except ServerUnavailable as error:
            raise BenchFailed(str(error)) from error
        found = shutil.which(name)
    if found is None:
        raise BenchFailed(f"{name} is missing: install it (Debian: sudo apt-get install {_PACKAGES[name]}).")
    return found


def find_pgbench(log: Log) -> str:
    """PostgreSQL's own load generator, of the version that the private server has."""
    bundled = find_binaries(log) / "pgbench"
    found = str(bundled) if Path(bundled).exists() else shutil.which("pgbench")
    if found is None:
        raise BenchFailed("pgbench is missing: install it (Debian: sudo apt-get install postgresql-contrib).")
    return found
