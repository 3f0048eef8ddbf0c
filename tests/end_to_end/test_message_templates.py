"""The approved templates of the messaging app: registered, reviewed and compared by the operators' commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx

from campus_tools.launcher.system import System


async def test_templates_are_pushed_once_and_their_review_is_shown(system: System, tmp_path: Path) -> None:
    sandbox = f"{system.sandbox_url}/control"
    environment = {
        **os.environ,
        "STATE_DIR": str(system.state_dir),
        "PORT_BASE": str(system.port_base),
        "CAMPUS_URL": system.base_url,
    }

    def templates(*arguments):
        ended = subprocess.run(
            [sys.executable, "-m", "operations.campusctl.app", "messaging", "templates", *arguments, "--json"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.stdout, ended.stderr
        return ended.returncode, json.loads(ended.stdout)["data"]

    code, _ = templates("export", "--out", str(tmp_path / "templates.json"))
    names = [one["name"] for one in json.loads((tmp_path / "templates.json").read_text(encoding="utf-8"))]
    assert (code, len(names)) == (0, len(set(names)))
    async with httpx.AsyncClient() as client:
        await client.put(f"{sandbox}/settings", json={"messaging_template_review": "manual"})
        code, pushed = templates("push", "--yes")
        assert (code, [one["name"] for one in pushed]) == (0, names)
        assert {one["action"] for one in pushed} == {"registered"}
        code, states = templates("status")
        assert (code, {one["state"] for one in states}) == (4, {"pending"})
        for name in names[1:]:
            await client.post(f"{sandbox}/messaging/templates/{name}/approve", json={})
        reason = {"reason": "TAG_CONTENT_MISMATCH"}
        await client.post(f"{sandbox}/messaging/templates/{names[0]}/reject", json=reason)
        code, states = templates("status")
        assert (code, [one["name"] for one in states if one["state"] != "approved"]) == (4, names[:1])
        assert (states[0]["state"], states[0]["reason"]) == ("rejected", "TAG_CONTENT_MISMATCH")
        code, pushed = templates("push", "--yes")
        assert (code, {one["action"] for one in pushed}) == (0, {"unchanged"})
        await client.post(f"{sandbox}/messaging/templates/{names[0]}/approve", json={})
        await client.put(f"{sandbox}/settings", json={"messaging_template_review": "auto"})
        assert templates("status")[0] == 0
