"""The verdicts of the overload drill find each way in which a system does not recover, or refuses wrongly."""

import pytest

from lab.drills.overload import ORDER, READ, WEBHOOKS, Call, record_recovery, record_rejections
from lab.report import Report

SERVED = Call(READ, 0.0, 0.1, 200, False, "")


def shed(kind: str, ended: float = 0.2) -> Call:
    return Call(kind, 0.0, ended, 503, True, "")


def broken_by(*calls: Call) -> list[str]:
    report = Report()
    record_rejections(report, calls)
    return report.broken


def test_refused_orders_and_reads_are_accepted() -> None:
    assert broken_by(SERVED, shed(READ), shed(ORDER)) == []


@pytest.mark.parametrize(
    "call",
    [SERVED._replace(status=500), SERVED._replace(status=0), shed(READ)._replace(has_retry_after=False)],
    ids=["an error", "no response", "no Retry-After"],
)
def test_any_other_response_is_reported(call: Call) -> None:
    assert broken_by(SERVED, call) == ["neither served nor refused with Retry-After"]


def test_a_webhook_is_refused_only_when_nothing_else_is_served() -> None:
    assert broken_by(SERVED, shed(WEBHOOKS)) == ["webhooks refused while others were served"]
    assert broken_by(SERVED, shed(WEBHOOKS, ended=5.0)) == []


@pytest.mark.parametrize(
    ("seconds", "waiting", "broken"),
    [
        (0.2, 0, []),
        (1.0, 0, ["median a minute after, to that before"]),
        (0.1, 1_000, ["waiting messages before, a minute after"]),
    ],
    ids=["as before", "slow responses", "messages that wait"],
)
def test_a_system_that_stays_slow_is_found(seconds: float, waiting: int, broken: list[str]) -> None:
    report = Report()
    record_recovery(report, [SERVED], [SERVED._replace(ended=seconds)], 0, waiting)
    assert report.not_as_promised == broken


def test_a_system_that_serves_nothing_after_it_is_found() -> None:
    report = Report()
    record_recovery(report, [SERVED], [shed(READ)], 0, 0)
    assert report.late == ["median a minute after, to that before"]
