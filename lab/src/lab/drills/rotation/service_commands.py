"""The commands of campusctl that run a service's code, as the runbooks run them in containers: in the service's image.

The operations image contains no service. On a machine campusctl itself starts the service's command.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from campus_tools.launcher import System
from lab.drills.rotation.failures import DrillFailed
from operations.rotation.secret_store import Secret, ended
from operations.secrets import read_secrets, write_secrets

_SIGNING: Final = {"begin": "rotate-keys", "end": "retire-keys"}
_ENCRYPTING: Final = {Secret.encryption: ("identity", "orders", "payouts", "notifications"), Secret.pin: ("orders",)}


@dataclass(frozen=True, slots=True)
class ServiceCommands:
    """The commands by the images of a running system."""

    system: System

    def runs(self, arguments: Sequence[str]) -> bool:
        """Return whether this command of campusctl needs a service's code."""
        group, verb, *rest = arguments
        if group != "rotation":
            return group == "service"
        if verb in _SIGNING and rest[0] == Secret.signing:
            return True
        return verb == "re-encrypt" or (verb == "end" and rest[0] in _ENCRYPTING)

    async def run(self, arguments: Sequence[str], state_dir: Path) -> Any:
        """Run the command with the folder's secrets. Return its `data`. Raises DrillFailed: an old key is needed."""
        group, verb, *rest = arguments
        if group == "service":
            return await self._run(verb, *rest, state_dir=state_dir)
        secret = Secret(rest[0])
        if secret is Secret.signing:
            return await self._run("identity", _SIGNING[verb], state_dir=state_dir)
        count = ["--count"] if verb == "end" else rest[1:]
        lines = [await self._run(service, "re-encrypt", *count, state_dir=state_dir) for service in _ENCRYPTING[secret]]
        if verb == "end":
            if needing := [line for line in lines if not line["done"]]:
                raise DrillFailed(f"the old {secret} is still needed: {needing}")
            path = state_dir / "secrets.env"
            kept = read_secrets(path)
            write_secrets(path, kept | ended(kept, secret))
        return lines

    async def _run(self, service: str, *arguments: str, state_dir: Path) -> dict[str, Any]:
        secrets = read_secrets(state_dir / "secrets.env")
        code, output = await asyncio.to_thread(self.system.command, service, *arguments, secrets=secrets)
        return {"service": service, "said": output, "done": code == 0}
