"""Find or install promtool and amtool, the checkers of Prometheus and Alertmanager."""

import shutil
from collections.abc import Callable
from typing import Final

from campus_tools.servers import ServerUnavailable
from campus_tools.servers.install import can_install, install

PACKAGES: Final = {"promtool": "prometheus", "amtool": "prometheus-alertmanager"}


def find_program(name: str, report: Callable[[str], None]) -> str | None:
    """Return the program's path. None: it is missing and cannot be installed; `report` receives the reason."""
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
