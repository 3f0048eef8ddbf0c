"""Drills of the people on call: plant a fault on staging, and measure how its alert is worked on."""

import sys
from enum import StrEnum
from typing import Annotated, Final

import typer

from operations.campusctl.exits import MISUSED, REFUSED, Refused
from operations.campusctl.registering import Operator, Yes, command
from operations.campusctl.showing import Output
from operations.drills.catalog import DRILLS
from operations.drills.running import Progress, record_end, remove_fault, run_drill
from operations.drills.scene import Scene

_NAMES: Final = {name: name for name in DRILLS}
DrillName = StrEnum("DrillName", _NAMES)  # type: ignore[misc]


def register(app: typer.Typer) -> None:
    command(
        app,
        "drill",
        "campusctl drill --list",
        "campusctl drill dead-letters",
        "campusctl drill service-down --prometheus http://127.0.0.1:9090",
        "campusctl drill --undo",
        on_cluster=True,
    )(drill)


def drill(
    operator: Operator,
    name: Annotated[
        DrillName | None, typer.Argument(help="The drill, named like its alert.", show_default=False)
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the drills.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the fault of an interrupted drill.")] = False,
    prometheus: Annotated[
        str | None, typer.Option(metavar="URL", help="The Prometheus of drills whose alert is of the monitoring.")
    ] = None,
    minutes: Annotated[int, typer.Option(min=1, max=240, help="The drill ends after this time.")] = 90,
    remove_after: Annotated[
        int | None,
        typer.Option(min=0, help="Remove the fault so many seconds after its alert; when Enter is pressed if omitted."),
    ] = None,
    yes: Yes = False,
) -> Output:
    """Plant a fault on a staging or development system, measure until its alert is acknowledged and cleared, and remove
    the fault. The times are listed in the console (Drills) and by GET /api/drills.

    Ctrl-C removes the fault; after a crash --undo does. Exit code 1: the alert was not cleared.
    """
    if show_list:
        rows = [
            {
                "name": one.name,
                "severity": one.severity,
                "alert": "monitoring" if one.by_monitoring else "application",
                "fault": one.fault,
                "reason": one.reason,
            }
            for one in DRILLS.values()
        ]
        return Output(rows, ("name", "severity", "alert", "fault", "reason"))
    scene = Scene(operator)
    if undo:
        scene.recall()
        remove_fault(scene, DRILLS[scene.facts["name"]])
        return Output(record_end(scene, Progress(), []))
    if name is None:
        raise Refused("Name a drill.", "campusctl drill --list", MISUSED)
    chosen = DRILLS[name]
    operator.confirm(f"{operator.base_url}: {chosen.fault}. Start the drill {name}?", yes=yes)
    recorded = run_drill(
        scene, chosen, prometheus=prometheus, minutes_max=minutes, remove_after=remove_after, report=_report
    )
    return Output(recorded, exit_code=REFUSED if recorded["clearedAt"] is None else 0)


def _report(text: str) -> None:
    """Print on stderr: stdout is for output."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
