"""A new endpoint works as it is written, and is published by its declaration alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campus_tools.documents.files import ROOT
from campus_tools.new_endpoint import NewEndpoint, write_endpoint
from campus_tools.servers import Server, Servers

pytestmark = pytest.mark.long
# One service for each way in which tests sign in.
TABLES = {"identity": "vendors", "payments": "payment_intents", "payouts": "payout_requests"}
NEW = """
from campus_tools.endpoints import public_routes
print([route.name for route, _ in public_routes() if "bright-ideas" in route.path])
"""


@pytest.mark.parametrize("service", TABLES)
def test_a_new_endpoint_responds_and_is_in_the_table(
    service: str, tmp_path: Path, servers: Servers, postgresql: Server, broker_url: str
) -> None:
    copy = tmp_path / "services" / service
    shutil.copytree(ROOT / "services" / service, copy, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
    written = write_endpoint(NewEndpoint(service, "bright-idea", TABLES[service]), tmp_path)
    assert len(written) == 4
    environment = os.environ | {
        "PYTHONPATH": str(copy / "src"),
        "DATABASE_URL": servers.database_url,
        "BROKER_URL": servers.broker_url,
        "BROKER_MANAGEMENT_URL": servers.management_url,
    }
    for path in written:
        for tool in ("check", "format --check"):
            command = [sys.executable, "-m", "ruff", *tool.split(), "--stdin-filename", str(path), "-"]
            subprocess.run(command, cwd=ROOT, input=(tmp_path / path).read_text(), text=True, check=True)
    shown = subprocess.run(
        [sys.executable, "-c", NEW], env=environment, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert shown.stdout.strip() == "['GET /api/bright-ideas/:id']"
    options = ["-q", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={tmp_path}"]
    test = str(copy / "tests/integration/test_bright_ideas.py")
    subprocess.run([sys.executable, "-m", "pytest", *options, test], env=environment, cwd=tmp_path, check=True)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "services/payouts/src/payouts/routes", tmp_path / "services/payouts/src/payouts/routes")
    for folder in ("tests/integration", "src/payouts/queries", "src/payouts/responses"):
        (tmp_path / "services/payouts" / folder).mkdir(parents=True)
    new = NewEndpoint("payouts", "bright-idea", "payout_requests")
    write_endpoint(new, tmp_path)
    before = {path: path.read_text() for path in tmp_path.rglob("*.py")}
    with pytest.raises(FileExistsError):
        write_endpoint(new, tmp_path)
    assert {path: path.read_text() for path in tmp_path.rglob("*.py")} == before
