"""A drill of the people on call against the running system: its fault is planted, measured and removed."""

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from campus_tools.launcher.system import System
from operations.campusctl.sign_ins import SignIn, SignIns
from operations.journey import Marketplace
from tests.end_to_end.command_line import CommandLine

from .conftest import Users

FRESH_SECONDS = 600


@pytest.fixture
def environment(system: System, users: Users, tmp_path: Path) -> dict[str, str]:
    """Return the environment of an operator who is signed in and may read the system's secrets."""
    shutil.copy(system.state_dir / "secrets.env", tmp_path)
    user = users.ops
    kept = SignIn(user.email, user.access_token, user.refresh_token, time.time() + FRESH_SECONDS)
    SignIns(tmp_path / "campusctl.json").keep(system.base_url, kept)
    own = {"STATE_DIR": str(tmp_path), "PORT_BASE": str(system.port_base), "CAMPUS_URL": system.base_url}
    return {**os.environ, **own}


async def start(environment: dict[str, str], *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "operations.campusctl.app", "drill", *arguments, "--json",
        env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def planted_alert(market: Marketplace, users: Users, known: set[str]) -> dict[str, Any]:
    """Return the alert of the new dead letter of notifications."""

    async def raised() -> dict[str, Any] | None:
        alerts = await market.get("/api/alerts", users.ops, params={"limit": 100, "status": "open"})
        found = [one for one in alerts if one["title"].endswith("saved_product_changed.v1") and one["id"] not in known]
        return found[0] if found else None

    return await market.until("the alert of the drill", raised, 90)


async def test_a_drill_is_measured_aborted_and_undone(
    market: Marketplace, users: Users, environment: dict[str, str]
) -> None:
    running = await start(environment, "dead-letters", "--yes")
    alert = await planted_alert(market, users, set())
    await market.post(f"/api/alerts/{alert['id']}/acknowledge", {}, users.ops)
    reason = {"reason": "The message has no effect."}
    await market.post(f"/api/dead-letters/notifications/{alert['subject']}/close", reason, users.ops)
    output, complained = await asyncio.wait_for(running.communicate(), 120)
    assert running.returncode == 0, complained
    drill = json.loads(output)["data"]
    assert None not in (drill["secondsToSee"], drill["secondsToAcknowledge"], drill["secondsToMend"])
    assert drill in await market.get("/api/drills", users.ops)
    assert not (Path(environment["STATE_DIR"]) / "drill.json").exists()

    # An aborted one leaves nothing.
    running = await start(environment, "dead-letters", "--yes")
    second = await planted_alert(market, users, {alert["id"]})
    running.send_signal(signal.SIGINT)
    output, complained = await asyncio.wait_for(running.communicate(), 120)
    assert (running.returncode, json.loads(output)["data"]["clearedAt"]) == (1, None), complained
    dead_letter = await market.get(f"/api/dead-letters/notifications/{second['subject']}", users.ops)
    assert dead_letter["closedAt"] is not None

    # So does one whose program was killed, after --undo.
    running = await start(environment, "dead-letters", "--yes")
    third = await planted_alert(market, users, {alert["id"], second["id"]})
    running.kill()
    await running.wait()
    cli = CommandLine(environment)
    code, output = await cli.call("drill", "dead-letters", "--yes")
    assert (code, "--undo" in output["error"]["advice"]) == (1, True)
    await cli.done("drill", "--undo")
    dead_letter = await market.get(f"/api/dead-letters/notifications/{third['subject']}", users.ops)
    assert dead_letter["closedAt"] is not None


async def test_the_drills_are_listed_with_their_reasons(environment: dict[str, str]) -> None:
    drills = await CommandLine(environment).done("drill", "--list")
    assert len(drills) == 10
    runbooks = Path("docs/runbooks")
    assert [drill["name"] for drill in drills if not (runbooks / f"{drill['name']}.md").exists()] == []
