"""Prometheus' own checker of rules: found, or installed with the system's package manager."""

import shutil
from collections.abc import Callable

from campus_tools.servers import ServerUnavailable
from campus_tools.servers.install import can_install, install


def find_promtool(say: Callable[[str], None]) -> str | None:
    """The program's path; None where it is missing and cannot be installed, after `say` has told why."""
    found = shutil.which("promtool")
    if found is None and can_install():
        try:
            install(["prometheus"], why="promtool is not installed", say=say)
        except ServerUnavailable as error:
            say(str(error))
        found = shutil.which("promtool")
    if found is None:
        say("promtool is missing (Debian: sudo apt-get install prometheus)")
    return found
