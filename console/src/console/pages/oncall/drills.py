"""Drills of the people on call with their times; `campusctl drill` carries them out."""

from typing import Any, Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, ListView, show_list
from console.visit import Visit

SCREENS = Screens()


def _duration(name: str) -> Any:
    """Return the column's value: minutes and seconds, as 4:05."""

    def shown(drill: Json) -> str | None:
        seconds = drill[name]
        if seconds is None:
            return None
        minutes, rest = divmod(abs(seconds), 60)
        return f"{'-' if seconds < 0 else ''}{minutes}:{rest:02d}"

    return shown


def outcome_of(drill: Json) -> str:
    """Return whether the alert was cleared, and acknowledged within the time of its severity."""
    if drill["endedAt"] is None:
        return "running"
    if drill["clearedAt"] is None:
        return "aborted"
    seconds = drill["secondsToAcknowledge"]
    if seconds is None:
        return "not acknowledged"
    return "in time" if seconds <= drill["secondsToRespond"] else "too late"


def _steps(drill: Json) -> str | None:
    return ", ".join(str(number) for number in drill["runbookSteps"]) or None


DRILLS: Final = ListView(
    "/api/drills",
    columns=(
        Column("Started", "startedAt", "time"),
        Column("Drill", "name", link="/runbooks/{runbook}"),
        Column("Severity", "severity", "badge"),
        Column("Outcome", outcome_of, "badge"),
        Column("Seen after", _duration("secondsToSee"), "number"),
        Column("Acknowledged after", _duration("secondsToAcknowledge"), "number"),
        Column("Mended after", _duration("secondsToMend"), "number"),
        Column("Steps used", _steps),
        Column("By", "startedBy", "staff"),
    ),
    empty="No drill was carried out. On staging: campusctl drill --list.",
)


@SCREENS.page("/drills", title="Drills", any_of=("alerts:read",), menu="Drills")
async def drills_page(visit: Visit) -> Response:
    return await show_list(visit, DRILLS)
