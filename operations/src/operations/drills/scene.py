"""The system of a drill, and the record by which the drill can be undone after a crash."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx

from operations.campusctl.exits import NOT_REACHABLE, Refused
from operations.campusctl.registering import Operator
from operations.journey import Marketplace, StepFailed

FILE: Final = "drill.json"
_SECONDS_MAX: Final = 10.0
# The order and the payout of a drill: five messages between services on a busy machine.
_PLANT_SECONDS_MAX: Final = 180.0

Returned = TypeVar("Returned")


@dataclass(slots=True)
class Scene:
    """The operator's access to the system, and the facts of the planted fault.

    `facts` are written to `drill.json` before each step that a crash would otherwise leave in the system.
    """

    operator: Operator
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.operator.own.state_dir / FILE

    @property
    def subject(self) -> str | None:
        """The subject of the expected alert, where it is known."""
        return self.facts.get("subject")

    def remember(self, **facts: Any) -> None:
        """Store facts for the undoing."""
        self.facts.update(facts)
        draft = self.file.with_suffix(".draft")
        draft.write_text(json.dumps(self.facts))
        draft.replace(self.file)

    def recall(self) -> None:
        """Read the facts of an interrupted drill. Raises Refused without one."""
        try:
            self.facts = json.loads(self.file.read_text())
        except FileNotFoundError:
            raise Refused(f"No drill is interrupted: {self.file} does not exist.") from None

    def forget(self) -> None:
        self.file.unlink(missing_ok=True)

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Call an operation of the sandbox. Raises Refused: the system has no sandbox, or it rejects the call."""
        url = self.operator.own.sandbox_url
        try:
            response = httpx.request(
                method, f"{url}{path}", json=body, timeout=_SECONDS_MAX, trust_env=False, follow_redirects=False
            )
        except httpx.HTTPError as error:
            raise Refused(
                f"The sandbox does not respond at {url}: {type(error).__name__}.",
                "Drills run on systems with the sandbox only: development and staging. SANDBOX_URL names its address",
                NOT_REACHABLE,
            ) from error
        if not response.is_success:
            raise Refused(f"The sandbox rejects {method} {path}: {response.text[:200]}")
        return response.json() if response.content else None

    def plant_fault(self, **rules: Any) -> None:
        """Set rules of faults at the sandbox, remembered for `remove_faults`."""
        self.remember(faults=sorted({*self.facts.get("faults", ()), *rules}))
        self.control("PUT", "/control/faults", rules)

    def remove_faults(self) -> None:
        """Remove the rules that `plant_fault` has set."""
        if kinds := self.facts.get("faults"):
            self.control("PUT", "/control/faults", dict.fromkeys(kinds))

    def act(self, path: str, body: dict[str, Any]) -> None:
        """Send a request of the operator; what staff did before is no error."""
        try:
            self.operator.api.act(path, body)
        except Refused as refused:
            if refused.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
                raise

    def in_marketplace(self, step: Callable[[Marketplace], Awaitable[Returned]]) -> Returned:
        """Run a step as users of the demo data. Raises Refused."""
        secrets = self.operator.own.secrets()
        if "DEMO_PASSWORD" not in secrets:
            raise Refused("This system has no demo accounts.", "Load them: campusctl demo load")

        async def run() -> Returned:
            async with Marketplace.at(
                self.operator.base_url, self.operator.own.sandbox_url, secrets, patient=True
            ) as market:
                async with asyncio.timeout(_PLANT_SECONDS_MAX):
                    return await step(market)

        try:
            return asyncio.run(run())
        except (StepFailed, TimeoutError, httpx.HTTPError) as error:
            raise Refused(f"The fault could not be planted: {error or type(error).__name__}") from error
