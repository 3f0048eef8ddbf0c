"""Commands of a service that the start runs: migrations and demo data."""

import subprocess
import tempfile
from collections.abc import Mapping

from campus_tools.children import spawn
from campus_tools.launcher.failures import StartFailed, with_remedy
from campus_tools.launcher.runtimes import Program, Runtime
from operations.services import Service

UNKNOWN_COMMAND = 64
"""The exit code (EX_USAGE) of a service that has no such command."""


class OneShots:
    """Running commands, so that a stop ends them too."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._stopped = False

    def run(self, service: Service, command: str, environment: Mapping[str, str]) -> bool:
        """Run `python -m <service> <command>` to its end. Return whether the service has that command.

        Raises:
            StartFailed: the command failed; the message holds its output.
        """
        if self._stopped:
            return True
        program = Program(f"{service.name}-{command}", service.name, (service.import_name, command))
        arguments, variables = self._runtime.command(program, environment)
        with tempfile.TemporaryFile() as output:
            child = spawn(arguments, environment=variables, output=output, death_signal=self._runtime.death_signal)
            self._running[program.name] = child
            code = child.wait()
            del self._running[program.name]
            output.seek(0)
            text = output.read().decode(errors="replace").strip()
        if code not in (0, UNKNOWN_COMMAND):
            raise StartFailed(
                f"`python -m {service.import_name} {command}` failed with code {code}:\n{with_remedy(text)}"
            )
        return code == 0

    def stop(self) -> None:
        """End running commands, and start no more."""
        self._stopped = True
        for name, child in list(self._running.items()):
            self._runtime.kill(name, child)
