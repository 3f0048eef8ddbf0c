"""`campusctl doctor` as an operator runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from .conftest import LIVE_KEY, Sandbox


def run_doctor(*arguments: str, **environment: str) -> tuple[int, str]:
    machine = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV") if name in os.environ}
    ended = subprocess.run(
        [sys.executable, "-m", "operations.campusctl.app", "doctor", *arguments],
        env={**machine, "COLUMNS": "250", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout


def test_the_command_prints_lines_and_no_secret_and_ends_with_4_on_a_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    settings = tmp_path / "production.env"
    text = "\n".join(
        f"{name}={value}" for name, value in sandbox.environment().items() if name != "FCM_SERVICE_ACCOUNT"
    )
    settings.write_text(f"{text}\nSMTP_URL=smtp://campus:the-pass-word@127.0.0.1:9\n")
    chosen = ("--settings", str(settings), "--only", "gateway", "--only", "mail", "--only", "model")
    code, output = run_doctor(*chosen, "--json", STATE_DIR=str(tmp_path))
    document = json.loads(output)
    assert (code, document["ok"]) == (4, False)
    assert {line["check"] for line in document["data"]} == {"gateway", "mail", "model"}
    assert {"state": "fault", "subject": "mail server"}.items() <= document["data"][-2].items()
    code, shown = run_doctor(*chosen, STATE_DIR=str(tmp_path), SMTP_URL="", COLUMNS="40")
    assert code == 4
    assert "ok      gateway key: is a live key, and accepted\n" in shown
    assert "\n        -> " in shown
    for secret in (LIVE_KEY, "the-pass-word"):
        assert secret not in output + shown


def test_the_command_ends_with_0_without_a_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    code, output = run_doctor("--only", "model", "--json", STATE_DIR=str(tmp_path), AI_BASE_URL=f"{sandbox.url}/model")
    assert (code, json.loads(output)["ok"]) == (0, True)
