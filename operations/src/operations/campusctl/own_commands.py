"""Run the services' own commands on the system of a state directory."""

import os
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from operations.audit.access import audit_secrets
from operations.campusctl.command_runners import COMMAND_SECONDS_MAX, CommandRunner
from operations.campusctl.exits import MISUSED, NOT_REACHABLE, Refused
from operations.environment import Environments
from operations.kubectl import Ended
from operations.ports import is_listening, port_base_of
from operations.processes import SANDBOX_PORT
from operations.secrets import read_secrets
from operations.services import SERVICES, service_named

_IS_IT_RUNNING = (
    "Is the system of this state directory running (make run)? Set STATE_DIR and PORT_BASE to use another one. "
    "Commands for a cluster need --kubernetes"
)


class RunningServers(NamedTuple):
    """Return the server addresses of the running system from secrets.env."""

    database_url: str
    broker_url: str
    rate_limit_store_url: str | None = None


@dataclass(frozen=True, slots=True)
class OwnCommands(CommandRunner):
    """Commands that need the system's secrets on its machine, and no token."""

    state_dir: Path
    port_base: int

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "OwnCommands":
        try:
            port_base = port_base_of(environment.get("PORT_BASE"))
        except ArgumentTypeError as error:
            raise Refused(str(error), exit_code=MISUSED) from None
        return cls(Path(environment.get("STATE_DIR") or ".state").resolve(), port_base)

    @property
    def sandbox_url(self) -> str:
        return os.environ.get("SANDBOX_URL") or f"http://127.0.0.1:{self.port_base + SANDBOX_PORT}"

    def secrets(self) -> dict[str, str]:
        """Return the content of secrets.env. Raises Refused: the file is missing, or the database is unreachable."""
        path = self.state_dir / "secrets.env"
        if not path.exists():
            raise Refused(f"{path} does not exist.", _IS_IT_RUNNING, NOT_REACHABLE)
        known = read_secrets(path)
        address = urlsplit(known["DATABASE_URL"])
        if not is_listening(address.port or 5432, address.hostname or "127.0.0.1"):
            raise Refused("The system's database is unreachable.", _IS_IT_RUNNING, NOT_REACHABLE)
        return known

    def check(self) -> None:
        self.secrets()

    def broker_administrator(self) -> str:
        return self.secrets()["BROKER_URL"]

    def audit_secrets(self) -> dict[str, str]:
        """Return the secrets of an audit, of the environment in a container without secrets.env. Raises Refused."""
        if (self.state_dir / "secrets.env").exists():
            return self.secrets()
        try:
            return audit_secrets(self.state_dir, os.environ)
        except FileNotFoundError as error:
            raise Refused(str(error), _IS_IT_RUNNING, NOT_REACHABLE) from None

    def environment(self) -> dict[str, str]:
        """Return the settings of all services of the system, its secrets among them."""
        environments = self._environments()
        return {name: text for service in SERVICES for name, text in environments.for_demo_data(service).items()}

    def run(self, service_name: str, *arguments: str, stdin: str = "") -> Ended:
        service = service_named(service_name)
        ended = subprocess.run(
            [sys.executable, "-m", service.import_name, *arguments],
            input=stdin,
            env={**self._environments().for_demo_data(service), "LOG_LEVEL": "CRITICAL"},
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS_MAX,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout.strip(), ended.stderr.strip())

    def _environments(self) -> Environments:
        known = self.secrets()
        servers = RunningServers(known["DATABASE_URL"], known["BROKER_URL"])
        return Environments(
            os.environ, port_base=self.port_base, state_dir=self.state_dir, servers=servers, secrets=known
        )
