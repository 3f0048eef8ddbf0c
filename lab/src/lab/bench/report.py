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
