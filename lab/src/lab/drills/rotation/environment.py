"""The environment of the rotations: a system under load, stand-ins for providers, and the operators' commands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from campus_tools.launcher import System
from campus_tools.launcher.runtimes import CHECKOUT
from lab.drills.inside_tls import EncryptedServers, InsideTls
from lab.drills.language_model import ModelCompany
from lab.drills.load import Load
from lab.drills.rotation.failures import DrillFailed
from lab.drills.rotation.service_commands import ServiceCommands
from lab.systems import logger, run_as_operator
from operations.provision import service_database_urls
from operations.secrets import read_secrets
from operations.services import SERVICES

log = logger("drill")


@dataclass(frozen=True, slots=True)
class EncryptedSystem:
    """The certificates of a system's processes and servers."""

    inside: InsideTls
    servers: EncryptedServers


@dataclass
class DrillEnvironment:
    """The system under load, and the stand-ins for providers."""

    system: System
    load: Load
    company: ModelCompany
    overlap_seconds: float
    rows: list[tuple[str, str]] = field(default_factory=list)
    encrypted: EncryptedSystem | None = None
    """The certificates of the system; None: its traffic inside is plain."""
    variables: dict[str, str] = field(default_factory=dict)
    """Variables of the operators' commands: the cluster and the DNS provider, where a rotation has them."""

    @property
    def secrets(self) -> dict[str, str]:
        """The current content of secrets.env."""
        return read_secrets(self.system.state_dir / "secrets.env")

    @property
    def endpoints(self) -> list[str]:
        return [self.system.health_url(plan.name) for plan in self.system.plan.processes if plan.service != "sandbox"]

    async def ctl(
        self, *arguments: str, new_secret: str = "", may_fail: bool = False, state_dir: str | None = None
    ) -> Any:
        """Run one command of a runbook; its `data`. Raises DrillFailed when it fails.

        `state_dir`: a folder with other secrets than the system's.
        """
        log(f"  campusctl {' '.join(arguments)}")
        if self.system.runtime is not CHECKOUT:
            by_services = ServiceCommands(self.system)
            if by_services.runs(arguments):
                return await by_services.run(arguments, Path(state_dir) if state_dir else self.system.state_dir)
        code, result = await self._run(*arguments, new_secret=new_secret, state_dir=state_dir)
        if code not in (0, 4) and not may_fail:
            raise DrillFailed(f"campusctl {' '.join(arguments)}: {result['error']['detail']}")
        return result["data"] if result["data"] is not None else result["error"]

    async def may_revoke(self) -> None:
        """Wait for the overlap, and run the check at its end."""
        endpoints = [part for endpoint in self.endpoints for part in ("--metrics", endpoint)]
        log(f"  campusctl rotation check (sampling {self.overlap_seconds:g} s)")
        sampled = ("--sample-seconds", f"{self.overlap_seconds:g}", *endpoints)
        # The command with its fourteen addresses is too long to be printed.
        _, result = await self._run("rotation", "check", *sampled)
        if result["data"] is None:
            raise DrillFailed(f"campusctl rotation check: {result['error']['detail']}")
        if not result["data"]["mayRevoke"]:
            raise DrillFailed(f"the check rejects the revocation: {result['data']['reasons']}")

    async def company_keys(self, *keys: str) -> None:
        """Set the valid keys at the payment gateway; the first signs webhooks."""
        result = await self.load.market.sandbox.put("/control/gateway-keys", json={"keys": list(keys)})
        result.raise_for_status()

    def record(self, what: str, seen: str) -> None:
        self.rows.append((what, seen))
        log(f"  {what}: {seen}")

    @property
    def _trust(self) -> dict[str, str]:
        return {} if self.encrypted is None else {"SSL_CERT_FILE": str(self.encrypted.inside.authorities)}

    async def _run(self, *arguments: str, new_secret: str = "", state_dir: str | None = None) -> tuple[int | None, Any]:
        return await run_as_operator(
            self.system,
            "campusctl",
            "operations.campusctl.app",
            *arguments,
            "--json",
            state_dir=Path(state_dir) if state_dir else None,
            variables={"NEW_SECRET": new_secret, **self._trust, **self.variables},
            # kubectl is a program of the operator's machine, and in no image.
            runtime=CHECKOUT if "--kubernetes" in arguments else None,
        )


async def databases_opened(secrets: Mapping[str, str]) -> int:
    """Return the number of the twelve database accounts that accept these passwords."""
    opened = 0
    for service in SERVICES:
        urls = service_database_urls(secrets["DATABASE_URL"], service, secrets)
        for name in ("API_DATABASE_URL", "SERVICE_DATABASE_URL"):
            try:
                await (await asyncpg.connect(urls[name])).close()
            except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError):
                continue
            opened += 1
    return opened


def expect(holds: bool, otherwise: str) -> None:
    """Raise DrillFailed with `otherwise` unless `holds`."""
    if not holds:
        raise DrillFailed(otherwise)
