"""Commands on the machine of an installation: packages, users, services of systemd."""

import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx

from operations.installation.errors import InstallationFailed

COMMAND_SECONDS_MAX: Final = 900
READY_SECONDS_MAX: Final = 120.0
_POLL_SECONDS: Final = 0.5


@dataclass(slots=True)
class Host:
    """The machine. `report` receives one line for each change; `done` are these lines."""

    done: list[str] = field(default_factory=list)

    def run(self, *command: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> str:
        """Run a command to its end and return its output. Raises InstallationFailed with the end of its errors."""
        try:
            ended = subprocess.run(
                command,
                input=stdin,
                env=environment,
                capture_output=True,
                text=True,
                timeout=COMMAND_SECONDS_MAX,
                check=False,
            )
        except FileNotFoundError:
            raise InstallationFailed(f"{command[0]} is not installed.", "Use Debian 12 or newer") from None
        except subprocess.TimeoutExpired:
            detail = f"{' '.join(command)} did not end within {COMMAND_SECONDS_MAX} s."
            raise InstallationFailed(detail, "Run it by hand to see why, then repeat the installation") from None
        if ended.returncode != 0:
            words = (ended.stderr.strip() or ended.stdout.strip())[-2000:]
            raise InstallationFailed(f"{' '.join(command)} failed with code {ended.returncode}: {words}")
        return ended.stdout

    def change(self, line: str) -> None:
        self.done.append(line)

    def missing_packages(self, packages: Iterable[str]) -> list[str]:
        """Return the packages of Debian that are not installed."""
        return [name for name in packages if not self._is_installed(name)]

    def _is_installed(self, package: str) -> bool:
        shown = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package],
            capture_output=True,
            text=True,
            check=False,
        )
        return shown.stdout == "installed"

    def install_packages(self, packages: list[str]) -> None:
        if shutil.which("apt-get") is None:
            raise InstallationFailed("There is no apt-get.", "Use Debian 12 or newer, or Ubuntu 24.04 or newer")
        self.run("apt-get", "update", "-q")
        self.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)
        self.change(f"packages: {', '.join(packages)}")

    def is_active(self, unit: str) -> bool:
        return subprocess.run(["systemctl", "is-active", "--quiet", unit], check=False).returncode == 0

    def is_enabled(self, unit: str) -> bool:
        return subprocess.run(["systemctl", "is-enabled", "--quiet", unit], check=False).returncode == 0

    def enable(self, *units: str) -> None:
        """Start the units at each boot."""
        if late := [unit for unit in units if not self.is_enabled(unit)]:
            self.run("systemctl", "enable", *late)
            self.change(f"enabled: {', '.join(late)}")

    def restart(self, unit: str) -> None:
        try:
            self.run("systemctl", "restart", unit)
        except InstallationFailed as error:
            raise InstallationFailed(error.detail, f"journalctl -u {unit} -n 50") from None
        self.change(f"restarted: {unit}")

    def ensure_running(self, unit: str, restart: bool) -> None:
        """Start the unit where it does not run, and restart it on request."""
        if restart or not self.is_active(unit):
            self.restart(unit)


def wait_ready(unit: str, port: int) -> None:
    """Wait until a process responds that it is ready. Raises InstallationFailed."""
    deadline = time.monotonic() + READY_SECONDS_MAX
    with httpx.Client(timeout=5, trust_env=False) as http:
        while time.monotonic() < deadline:
            try:
                if http.get(f"http://127.0.0.1:{port}/health/readiness").status_code == HTTPStatus.OK:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(_POLL_SECONDS)
    raise InstallationFailed(f"{unit} is not ready after {READY_SECONDS_MAX:.0f} s.", f"journalctl -u {unit} -n 50")


def check_readable(folder: Path) -> None:
    """Check that the users of the processes may enter a release. Raises InstallationFailed."""
    for path in (folder, *folder.parents):
        if not path.stat().st_mode & 0o001:
            advice = "Put the release into /opt/campus/releases/VERSION, readable by all users"
            raise InstallationFailed(f"{path} cannot be entered by the processes' users.", advice)
    if folder.is_relative_to("/root") or folder.is_relative_to("/home"):
        raise InstallationFailed(f"{folder} is a home folder.", "Put the release into /opt/campus/releases/VERSION")
