"""Where the programs of a system run: here, as processes of the checkout. `lab.drills.containers` runs released
images.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from campus_tools.children import kill_child, stop_child
from campus_tools.servers import Servers
from common.messaging.declaring import declare_broker
from operations.provision import provision_broker, provision_databases


@dataclass(frozen=True, slots=True)
class Program:
    """`python -m <module>`, a process or a command of `holder`: a service, `console`, `sandbox` or `operations`."""

    name: str
    """Unique among the programs that run at once."""
    holder: str
    module: tuple[str, ...]
    """The module and its arguments."""
    state_dir: Path | None = None
    """Of an operator's program, which reads and writes this folder."""


class Runtime(Protocol):
    """Starts and ends programs."""

    death_signal: str
    """The name of the signal that the child receives when the launcher dies."""

    def command(self, program: Program, environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """Return the command line that runs the program with this environment, and the environment of that command."""

    def signal(self, name: str, child: subprocess.Popen[bytes], number: signal.Signals) -> None:
        """Signal the running program."""

    def stop(self, name: str, child: subprocess.Popen[bytes], within: float) -> None:
        """Stop the program in order, by force after `within` seconds, and wait for its end."""

    def kill(self, name: str, child: subprocess.Popen[bytes]) -> None:
        """`kill -9` the program and wait for its end."""

    def provision_databases(self, servers: Servers, secrets: Mapping[str, str]) -> None:
        """Create databases and roles. Raises ProvisioningFailed."""

    def provision_broker(self, servers: Servers, secrets: Mapping[str, str], settings: Mapping[str, str]) -> None:
        """Declare the queues and create the accounts. Raises DeclarationFailed, ProvisioningFailed."""


class Checkout:
    """Programs of this checkout, with this interpreter."""

    death_signal = "KILL"

    def command(self, program: Program, environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        return [sys.executable, "-m", *program.module], dict(environment)

    def signal(self, name: str, child: subprocess.Popen[bytes], number: signal.Signals) -> None:
        os.kill(child.pid, number)

    def stop(self, name: str, child: subprocess.Popen[bytes], within: float) -> None:
        stop_child(child, within=within)

    def kill(self, name: str, child: subprocess.Popen[bytes]) -> None:
        kill_child(child)

    def provision_databases(self, servers: Servers, secrets: Mapping[str, str]) -> None:
        asyncio.run(provision_databases(servers.database_url, secrets))

    def provision_broker(self, servers: Servers, secrets: Mapping[str, str], settings: Mapping[str, str]) -> None:
        asyncio.run(declare_broker(servers.broker_url, settings))
        asyncio.run(provision_broker(servers.management_url, servers.broker_url, secrets))


CHECKOUT: Final = Checkout()

READY_SECONDS_MAX = 90.0
"""Seconds until all processes must be ready; twelve of them on two busy cores need a third."""


@dataclass(frozen=True, slots=True)
class Startup:
    """How a system starts: the runtime of its programs, and the seconds until all of them must be ready.

    Without a broker nothing is declared there, for processes that need none.
    """

    runtime: Runtime = CHECKOUT
    ready_seconds: float = READY_SECONDS_MAX
    with_broker: bool = True


STARTUP: Final = Startup()
