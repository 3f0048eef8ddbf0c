"""The operators' command line, for tests."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

from typer.testing import CliRunner

from campus_tools.launcher.system import System
from operations.campusctl.app import app

# The start of a token: three letters alone may also occur in a random key or cursor.
TOKEN = r"eyJ[\w-]{8,}\.eyJ"


class CommandLine:
    """The command line of a signed-in user, or of the machine itself."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    async def call(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Exit code and document."""
        result = await asyncio.to_thread(
            CliRunner().invoke, app, [*arguments, "--json"], env={"CAMPUS_TOTP": None, **self._environment}
        )
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert not re.search(TOKEN, result.stdout), "a token was printed"
        return result.exit_code, json.loads(result.stdout)

    async def done(self, *arguments: str) -> Any:
        """Return the output of a command that succeeds."""
        code, output = await self.call(*arguments)
        assert (code, output["ok"], output["error"]) == (0, True, None), output
        return output["data"]


def cli_of_the_machine(system: System) -> CommandLine:
    """Return the command line of an operator who may read the system's secrets."""
    return CommandLine(
        {
            "STATE_DIR": str(system.state_dir),
            "PORT_BASE": str(system.port_base),
            "CAMPUS_URL": system.base_url,
        }
    )
