"""The approved templates of the messaging app: registered, reviewed and compared by the operators' commands."""

import json
from pathlib import Path
from typing import Any

import httpx

from campus_tools.launcher.system import System
from tests.end_to_end.command_line import cli_of_the_machine


async def test_templates_are_pushed_once_and_their_review_is_shown(system: System, tmp_path: Path) -> None:
    sandbox = f"{system.sandbox_url}/control"
    cli = cli_of_the_machine(system)

    async def templates(*arguments: str) -> tuple[int, Any]:
        code, output = await cli.call("messaging", "templates", *arguments)
        return code, output["data"]

    code, _ = await templates("export", "--out", str(tmp_path / "templates.json"))
    names = [one["name"] for one in json.loads((tmp_path / "templates.json").read_text(encoding="utf-8"))]
    assert (code, len(names)) == (0, len(set(names)))
    async with httpx.AsyncClient() as client:
        await client.put(f"{sandbox}/settings", json={"messaging_template_review": "manual"})
        code, pushed = await templates("push", "--yes")
        assert (code, [one["name"] for one in pushed]) == (0, names)
        assert {one["action"] for one in pushed} == {"registered"}
        code, states = await templates("status")
        assert (code, {one["state"] for one in states}) == (4, {"pending"})
        for name in names[1:]:
            await client.post(f"{sandbox}/messaging/templates/{name}/approve", json={})
        reason = {"reason": "TAG_CONTENT_MISMATCH"}
        await client.post(f"{sandbox}/messaging/templates/{names[0]}/reject", json=reason)
        code, states = await templates("status")
        assert (code, [one["name"] for one in states if one["state"] != "approved"]) == (4, names[:1])
        assert (states[0]["state"], states[0]["reason"]) == ("rejected", "TAG_CONTENT_MISMATCH")
        code, pushed = await templates("push", "--yes")
        assert (code, {one["action"] for one in pushed}) == (0, {"unchanged"})
        await client.post(f"{sandbox}/messaging/templates/{names[0]}/approve", json={})
        await client.put(f"{sandbox}/settings", json={"messaging_template_review": "auto"})
        assert (await templates("status"))[0] == 0
