"""The own checkers of Prometheus and Alertmanager: found, or installed with the system's package manager."""

import shutil
from collections.abc import Callable
from typing import Final

from campus_tools.servers import ServerUnavailable
from campus_tools.servers.install import can_install, install

PACKAGES: Final = {"promtool": "prometheus", "amtool": "prometheus-alertmanager"}


def find_program(name: str, report: Callable[[str], None]) -> str | None:
    """The program's path; None where it is missing and cannot be installed, after `say` has told why."""
    found = shutil.which(name)
    if found is None and can_install():
        try:
            install([PACKAGES[name]], why=f"{name} is not installed", report=report)
        except ServerUnavailable as error:
            report(str(error))
        found = shutil.which(name)
    if found is None:
        report(f"{name} is missing (Debian: sudo apt-get install {PACKAGES[name]})")
    return found
