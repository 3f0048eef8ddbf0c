"""The command `audit`: its result, its exit code, its settings and the record of each run."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from operations.audit import __main__ as command
from operations.audit.access import AUDITED, audit_secrets, database_variable, work_folder
from operations.audit.findings import Finding, Offence, Report
from operations.audit.recording import NotRecorded, Run, record_audit
from operations.audit.report import database_url
from testkit.service_kit import served

from .gateway_double import KEY


def report_of(*kinds: Any) -> Report:
    offence = Offence("order 1", "2 kobo", "3 kobo")
    return Report(
        tuple(Finding("all", f"promise {kind}", kind, (offence.of_kind(kind),)) for kind in kinds), "http://gateway"
    )


@pytest.mark.parametrize(
    ("kinds", "verdict", "status"),
    [((), "clean", 0), (("open",), "open", 0), (("waiting",), "open", 0), (("waiting", "open", "broken"), "broken", 1)],
)
def test_the_command_ends_with_one_only_for_what_is_broken_and_shows_each_kind_apart(
    monkeypatch: Any, capsys: Any, kinds: Any, verdict: str, status: int
) -> None:
    async def run(*_: Any) -> tuple[Report, bool]:
        return report_of(*kinds), True

    monkeypatch.setattr(command, "run", run)
    for arguments in (["audit"], ["audit", "--json"]):
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as ended:
            command.main()
        assert ended.value.code == status
        printed = capsys.readouterr().out
        if arguments[-1] == "--json":
            document = json.loads(printed)
            assert document["verdict"] == verdict
            assert [finding["kind"] for finding in document["findings"]] == list(kinds)
            assert all(
                set(finding) == {"check", "kind", "subject", "expected", "actual"} for finding in document["findings"]
            )
        else:
            headings = {"broken": "Broken: a rule", "open": "Open: staff", "waiting": "Waiting: a pending"}
            assert [kind for kind, heading in headings.items() if heading in printed] == [
                kind for kind in headings if kind in kinds
            ]
            assert "Compared with the payment gateway at http://gateway" in printed


@pytest.mark.parametrize(("kind", "is_recorded", "status"), [("broken", True, 0), ("open", False, 1)])
def test_a_scheduled_audit_succeeds_when_its_result_was_recorded(
    monkeypatch: Any, kind: str, is_recorded: bool, status: int
) -> None:
    async def run(*_: Any) -> tuple[Report, bool]:
        return report_of(kind), is_recorded

    monkeypatch.setattr(command, "run", run)
    monkeypatch.setattr("sys.argv", ["audit", "--scheduled"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == status


def test_the_environment_replaces_secrets_env_when_it_names_every_database(tmp_path: Path) -> None:
    environment = {database_variable(service): f"postgresql://{service}-db-rw/campus_{service}" for service in AUDITED}
    environment |= {"GATEWAY_SECRET_KEY": KEY, "SERVICE_ROLE_KEY": "role", "PATH": "/bin", "FLUTTERWAVE_SECRET_KEY": ""}
    known = audit_secrets(tmp_path, environment)
    assert known == {name: text for name, text in environment.items() if name not in ("PATH", "FLUTTERWAVE_SECRET_KEY")}
    assert database_url(known, "payouts") == "postgresql://payouts-db-rw/campus_payouts"
    del environment["ORDERS_AUDIT_DATABASE_URL"]
    with pytest.raises(FileNotFoundError):
        audit_secrets(tmp_path, environment)
    (tmp_path / "secrets.env").write_text("AUDIT_DATABASE_URL=postgresql://campus_audit@server/postgres\n")
    assert (
        database_url(audit_secrets(tmp_path, environment), "orders") == "postgresql://campus_audit@server/campus_orders"
    )


def test_lists_are_kept_in_the_state_directory_and_nowhere_when_it_is_read_only(tmp_path: Path) -> None:
    assert work_folder(tmp_path) == tmp_path / "audit"
    (tmp_path / "file").write_text("")
    assert work_folder(tmp_path / "file") is None


@dataclass
class Recorder:
    """The function that records audits, as the system serves it."""

    status: int = 200
    received: list[dict[str, Any]] = field(default_factory=list)

    async def record(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({}, 401)
        body = await request.json()
        self.received.append(body)
        kinds = {finding["kind"] for finding in body["findings"]}
        verdict = "broken" if "broken" in kinds else "open" if kinds else "clean"
        return JSONResponse({"data": {"verdict": verdict}}, self.status)

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/functions/v1/record-audit", self.record, methods=["POST"])])


async def test_the_result_is_recorded_with_the_worst_findings_first() -> None:
    recorder, run = Recorder(), Run.start()
    offences = tuple(Offence(f"order {number}", "x" * 2_000, "a\x00b\ud800") for number in range(600))
    report = Report(
        (
            Finding("all", "promise", "open", tuple(offence.of_kind("open") for offence in offences)),
            Finding("orders", "rule", "broken", offences[:1]),
        ),
        "http://gateway",
        "no key",
    )
    async with served(recorder.app()) as url:
        await record_audit(run, report, f"{url}/", {"SERVICE_ROLE_KEY": KEY})
    [body] = recorder.received
    assert (body["id"], body["startedAt"], body["gatewayReason"]) == (
        str(run.id),
        run.started_at.isoformat(),
        "no key",
    )
    assert len(body["findings"]) == 500
    assert body["findings"][0] == {
        "check": "orders: rule",
        "kind": "broken",
        "subject": "order 0",
        "expected": "x" * 1_000,
        "actual": "a?b?",
    }


@pytest.mark.parametrize(("status", "key"), [(503, KEY), (200, "another key")])
async def test_a_result_without_a_record_is_reported(status: int, key: str) -> None:
    async with served(Recorder(status).app()) as url:
        with pytest.raises(NotRecorded, match="record-audit"):
            await record_audit(Run.start(), report_of("broken"), url, {"SERVICE_ROLE_KEY": key})
    with pytest.raises(NotRecorded, match="record-audit"):
        await record_audit(Run.start(), report_of("broken"), "http://127.0.0.1:1", {"SERVICE_ROLE_KEY": KEY})
