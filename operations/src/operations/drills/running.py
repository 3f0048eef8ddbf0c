"""The clock of a drill: from the planted fault to the end of its alert; the fault is removed however the drill ends."""

import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from types import FrameType
from typing import Any, Final, NoReturn

import httpx

from operations.campusctl.exits import NOT_REACHABLE, Refused
from operations.drills.catalog import Drill
from operations.drills.scene import Scene

_EVERY_SECONDS: Final = 2.0
_AFTER_REMOVAL_EVERY_SECONDS: Final = 60.0
_RESPONSE_SECONDS_MAX: Final = 10.0

Report = Callable[[str], None]


@dataclass(slots=True)
class Progress:
    """The instants of a drill, ISO 8601; None: not reached."""

    seen_at: str | None = None
    acknowledged_at: str | None = None
    cleared_at: str | None = None


def check_none_interrupted(scene: Scene) -> None:
    """Raise Refused while the fault of an earlier drill may still be in the system."""
    if scene.file.exists():
        raise Refused("The drill before was interrupted.", "Remove its fault first: campusctl drill --undo")


def run_drill(
    scene: Scene, drill: Drill, *, prometheus: str | None, minutes_max: int, remove_after: int | None, report: Report
) -> dict[str, Any]:
    """Plant the fault, wait until its alert is cleared, remove the fault, and return the recorded drill.

    `remove_after` seconds after the alert the fault is removed; None: when the operator presses Enter. Raises Refused.
    """
    check_none_interrupted(scene)
    scene.control("GET", "/health")
    read = _of_prometheus(drill, prometheus) if drill.by_monitoring else _of_alerts(scene, drill)
    exercise = {"name": drill.name, "runbook": drill.name, "severity": drill.severity}
    started = scene.operator.api.act("/api/drills", exercise).data
    progress = Progress()
    scene.remember(id=started["id"], name=drill.name, startedAt=started["startedAt"])
    try:
        with _interruptible():
            report(f"{_clock()} Fault: {drill.fault}. Ctrl-C removes it.")
            drill.plant(scene)
            _watch(scene, drill, read, progress, time.monotonic() + 60 * minutes_max, remove_after, report)
    except KeyboardInterrupt:
        report(f"{_clock()} Aborted.")
    finally:
        # Also after a failed step: nothing of the drill stays in the system.
        remove_fault(scene, drill)
        steps = _steps_used(report) if progress.cleared_at else []
        recorded = record_end(scene, progress, steps)
    return recorded


def remove_fault(scene: Scene, drill: Drill) -> None:
    """Remove the fault, unless that was done."""
    if not scene.facts.get("removed"):
        drill.undo(scene)
        scene.remember(removed=True)


def record_end(scene: Scene, progress: Progress, steps: list[int]) -> dict[str, Any]:
    """Record the times, and return the drill."""
    times = {_camel(name): at for name, at in asdict(progress).items() if at}
    path = f"/api/drills/{scene.facts['id']}/end"
    try:
        recorded: dict[str, Any] = scene.operator.api.act(path, {**times, "runbookSteps": steps}).data
    except Refused as refused:
        if refused.status in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            # The system was restored, or the drill ended elsewhere: nothing is left to undo.
            scene.forget()
        raise
    scene.forget()
    return recorded


def _watch(
    scene: Scene,
    drill: Drill,
    read: Callable[[Progress], None],
    progress: Progress,
    deadline: float,
    remove_after: int | None,
    report: Report,
) -> None:
    shown: set[str] = set()
    remove_at: float | None = None
    next_step_at = 0.0
    while progress.cleared_at is None and time.monotonic() < deadline:
        is_removed = scene.facts.get("removed", False)
        if not is_removed:
            drill.tick(scene)
        elif time.monotonic() >= next_step_at:
            drill.after_removal(scene)
            next_step_at = time.monotonic() + _AFTER_REMOVAL_EVERY_SECONDS
        read(progress)
        for name, at in asdict(progress).items():
            if at and name not in shown:
                shown.add(name)
                report(f"{_clock()} {_STEPS[name]}")
        if progress.seen_at and remove_at is None:
            remove_at = time.monotonic() + remove_after if remove_after is not None else float("inf")
        pressed = _enter_pressed()
        if pressed and drill.by_monitoring and progress.seen_at and not progress.acknowledged_at:
            # Prometheus has no acknowledgement.
            progress.acknowledged_at = _now()
        elif not is_removed and (pressed or (remove_at is not None and time.monotonic() >= remove_at)):
            remove_fault(scene, drill)
            report(f"{_clock()} The fault is removed. The alert is to clear.")
        if progress.cleared_at is None:
            time.sleep(_EVERY_SECONDS)


_STEPS: Final = {
    "seen_at": "The alert is raised. Acknowledge it in the console; Enter here acknowledges one of the monitoring, and "
    "Enter removes the fault when the runbook ends outside of the system.",
    "acknowledged_at": "The alert is acknowledged.",
    "cleared_at": "The alert is cleared.",
}


def _of_alerts(scene: Scene, drill: Drill) -> Callable[[Progress], None]:
    """Return the reader of `GET /api/alerts`. Raises Refused while an alert of before would be taken for this one."""

    def alerts() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = scene.operator.api.get("/api/alerts", sort="created_at", limit=100).data
        return [alert for alert in found if alert["runbook"] == drill.name]

    if drill.name in _ONE_KEY and any(alert["closedAt"] is None for alert in alerts()):
        raise Refused(
            f"An alert {drill.name} is open: the fault of the drill would only repeat it.", "Resolve it first"
        )
    before = {alert["id"] for alert in alerts()}

    def read(progress: Progress) -> None:
        for alert in alerts():
            if alert["id"] not in before and (scene.subject is None or alert["subject"] == scene.subject):
                progress.seen_at = max(alert["raisedAt"], scene.facts["startedAt"])
                progress.acknowledged_at, progress.cleared_at = alert["acknowledgedAt"], alert["closedAt"]
                return

    return read


_ONE_KEY: Final = frozenset({"audit-broken", "gateway-key-rejected", "provider-account-fault"})
"""Drills whose alert has the same key each time."""


def _of_prometheus(drill: Drill, prometheus: str | None) -> Callable[[Progress], None]:
    """Return the reader of Prometheus's firing alerts. Raises Refused without its address, or while one fires."""
    if prometheus is None:
        raise Refused(
            f"{drill.name} is an alert of the monitoring.", "Name its Prometheus: --prometheus http://127.0.0.1:9090"
        )

    def fires() -> bool:
        try:
            response = httpx.get(f"{prometheus}/api/v1/alerts", timeout=_RESPONSE_SECONDS_MAX, trust_env=False)
            alerts = response.raise_for_status().json()["data"]["alerts"]
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise Refused(f"Prometheus does not respond at {prometheus}.", exit_code=NOT_REACHABLE) from error
        return any(one["labels"]["alertname"] == drill.name and one["state"] == "firing" for one in alerts)

    if fires():
        raise Refused(f"The alert {drill.name} fires already.", "Resolve it first")

    def read(progress: Progress) -> None:
        is_firing = fires()
        if progress.seen_at is None:
            progress.seen_at = _now() if is_firing else None
        elif not is_firing:
            progress.cleared_at = _now()

    return read


@contextmanager
def _interruptible() -> Iterator[None]:
    """End the drill on SIGTERM as on Ctrl-C."""

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _enter_pressed() -> bool:
    if not sys.stdin.isatty() or not select.select([sys.stdin], [], [], 0)[0]:
        return False
    sys.stdin.readline()
    return True


def _steps_used(report: Report) -> list[int]:
    """Return the steps of the runbook that the person on call names; none where no one is at the terminal."""
    if not sys.stdin.isatty():
        return []
    report("Which steps of the runbook were used? Their numbers, separated by commas:")
    return [int(word) for word in sys.stdin.readline().replace(",", " ").split() if word.isdecimal()]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _clock() -> str:
    return f"{datetime.now(UTC):%H:%M:%S}"


def _camel(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(word.capitalize() for word in more)
