"""The table on the console and `bench-results.json`."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.bench.figures import Figures, Row


def show(rows: Sequence[Row], console: Console) -> None:
    """Print each path with its limit below it."""
    table = Table(title="Hot paths and their limits", title_justify="left")
    table.add_column("Path, and the limit below it", overflow="fold", min_width=34)
    for heading in ("per second", "p50 ms", "p99 ms", "CPU us", "database us", "ratio"):
        table.add_column(heading, justify="right")
    table.add_column("goal")
    table.add_column("met")
    for row in rows:
        own = _numbers(row.figures) if row.value is None else [f"{row.value:,.0f} {row.unit}", "", "", "", ""]
        goal = "\n".join(str(goal) for goal in row.goals)
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.path, *own, ratio, goal, _met(row), style="bold")
        if row.limit_figures is not None:
            table.add_row(f"  {row.limit}", *_numbers(row.limit_figures), "", "", "")
        if row.note:
            table.add_row(f"  [dim]{row.note}[/dim]", *[""] * 8)
    console.print(table)


def show_parts(rows: Sequence[Row], console: Console) -> None:
    """Print what each process, database, table and queue has of a step; with a limit as `limit → path`."""
    detailed = {row.path: row.details for row in rows if row.details}
    for kind, title in _PARTS.items():
        columns = {path: details for path, details in detailed.items() if kind in details["own"]}
        if not columns:
            continue
        table = Table(title=title, title_justify="left")
        table.add_column("")
        for path in columns:
            table.add_column(path.partition(",")[0], justify="right")
        sides = [side[kind] for details in columns.values() for side in details.values()]
        for part in dict.fromkeys(part for side in sides for part in sorted(side)):
            table.add_row(part, *(_of_sides(details, kind, part) for details in columns.values()))
        table.add_row("all", *(_of_sides(details, kind) for details in columns.values()), style="bold")
        console.print(table)


_PARTS = {
    "cpu_ms": "CPU in ms, without the idle share",
    "commits": "Commits",
    "tables": "Rows inserted, updated and deleted",
    "messages": "Messages consumed",
}


def _of_sides(details: dict[str, Any], kind: str, part: str = "") -> str:
    found = [_sum_of(details[side][kind], part) for side in ("limit", "own") if side in details]
    if not any(found):
        return ""
    change = f" ({found[1] / found[0] - 1:+.0%})" if len(found) == 2 and found[0] else ""
    return " → ".join(f"{value:,.1f}" for value in found) + change


def _sum_of(values: dict[str, Any], part: str) -> float:
    chosen = [values.get(part, 0.0)] if part else values.values()
    return float(sum(value["rows"] + value["changes"] if isinstance(value, dict) else value for value in chosen))


def write(rows: Sequence[Row], path: Path, *, form: str, seconds: float) -> None:
    """Write all figures and the machine of the run."""
    content = {
        "form": form,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds),
        "machine": {
            "cores": os.cpu_count(),
            "architecture": platform.machine(),
            "system": platform.system(),
            "python": platform.python_version(),
            "load_average": [round(load, 1) for load in os.getloadavg()],
        },
        "rows": [_as_json(row) for row in rows],
    }
    path.write_text(json.dumps(content, indent=2) + "\n")


def _as_json(row: Row) -> dict[str, Any]:
    goals = [{"goal": str(goal), "found": row.found(goal), "met": goal.met_by(row.found(goal))} for goal in row.goals]
    return {**asdict(row), "goals": goals, "met": row.met}


def _numbers(figures: Figures) -> list[str]:
    return [
        _number(figures.rate, 0),
        _number(figures.p50_ms, 1),
        _number(figures.p99_ms, 1),
        _number(figures.cpu_us, 0),
        _number(figures.database_cpu_us, 0),
    ]


def _number(value: float | None, places: int) -> str:
    return "" if value is None else f"{value:,.{places}f}"


def _met(row: Row) -> str:
    if row.met is None:
        return ""
    return "[green]yes[/green]" if row.met else "[red]no[/red]"
