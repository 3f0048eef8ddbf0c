"""The report of a drill: promises, and the exit status that they give."""

from pathlib import Path

import pytest

from lab.bench.programs import BenchFailed
from lab.report import Report, exit_code_of
from lab.systems import keep_logs


async def report_of(report: Report) -> Report:
    return report


def test_a_drill_whose_requirements_hold_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report({"orders": "3"})
    report.require_in_time("slowest readiness", "0.4 s", holds=True)
    report.require_none("failed requests", [])
    assert exit_code_of(report_of(report)) == 0
    shown = capsys.readouterr().out
    assert "slowest readiness" in shown
    assert "NOT AS PROMISED" not in shown


@pytest.mark.parametrize("found", [["GET /api/orders: 503"], {"orders-api": 2}])
def test_what_must_not_occur_is_named_and_fails(found, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    report.require_none("failures", found)
    assert exit_code_of(report_of(report)) == 1
    assert report.broken == ["failures"]
    shown = capsys.readouterr().out
    assert "NOT AS PROMISED" in shown
    assert all(str(it) in shown for it in found)


def test_a_broken_requirement_fails_with_the_measured_value(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    report.require_in_time("all paid after", "41.0 s", holds=False)
    assert exit_code_of(report_of(report)) == 1
    assert report.holds
    assert "41.0 s" in capsys.readouterr().out


def test_a_drill_that_cannot_run_names_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    async def fail() -> Report:
        raise BenchFailed("wrk is missing")

    assert exit_code_of(fail()) == 1
    assert capsys.readouterr().err == "wrk is missing\n"


def test_the_logs_of_a_broken_run_replace_those_of_an_earlier_one(tmp_path: Path) -> None:
    run, kept = tmp_path / "run", tmp_path / "kept"
    for name in ("state/logs/orders-api.log", "postgresql/server.log", "state/secrets.env"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(name)
    kept.mkdir()
    (kept / "earlier.log").touch()
    keep_logs(run, kept)
    assert sorted(str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()) == [
        "postgresql/server.log",
        "state/logs/orders-api.log",
    ]
