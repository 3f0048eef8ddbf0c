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
from testkit.workers import run_of

# One service for each way in which tests sign in, and a context of one.
TABLES = {
    "identity": "vendors",
    "payments": "payment_intents",
    "payouts": "payout_requests",
    "notifications.support": "support_tickets",
}
NOUNS = {place: f"{place.rpartition('.')[2]}-idea" for place in TABLES}
SERVICES = [place.partition(".")[0] for place in TABLES]
NEW = """
from campus_tools.endpoints import public_routes
print([route.name for route, _ in public_routes() if "-ideas" in route.path])
"""


def test_new_endpoints_respond_and_are_in_the_table(
    tmp_path: Path, servers: Servers, postgresql: Server, broker_url: str, pytestconfig: pytest.Config
) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("libs", "testkit"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    written = []
    for service, (place, table) in zip(SERVICES, TABLES.items(), strict=True):
        shutil.copytree(ROOT / "services" / service, tmp_path / "services" / service)
        written += write_endpoint(NewEndpoint(place, NOUNS[place], table), tmp_path)
    assert len(written) == 4 * len(TABLES)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(tmp_path / "services" / service / "src") for service in SERVICES),
        "DATABASE_URL": servers.database_url,
        "BROKER_URL": servers.broker_url,
        "BROKER_MANAGEMENT_URL": servers.management_url,
    }
    if shared := run_of(pytestconfig):
        environment["TEST_RUN"] = shared  # The migrated templates of the other workers.

    def run(*command: object) -> str:
        process = [sys.executable, *map(str, command)]
        return subprocess.run(
            process, env=environment, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    for tool in (["check"], ["format", "--check"]):
        run("-m", "ruff", *tool, "--no-cache", *written)
    assert run("-c", NEW).strip() == str([f"GET /api/{noun}s/:id" for noun in NOUNS.values()])
    tests = [path for path in written if path.name.startswith("test_")]
    assert f"{len(TABLES)} passed" in run("-m", "pytest", "-q", *tests)


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
