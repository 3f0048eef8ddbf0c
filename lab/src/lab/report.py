"""The report of a drill or a soak: what was seen, and which promises did not hold."""

import asyncio
import sys
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from campus_tools.launcher import StartFailed
from campus_tools.servers import ServerUnavailable
from lab.bench.programs import BenchFailed
from operations.journey import StepFailed

_SHOWN_MAX = 20
_STOPPED = (BenchFailed, StartFailed, ServerUnavailable, StepFailed, TimeoutError, OSError, httpx.HTTPError)


@dataclass(slots=True)
class Report:
    """The rows of a table, and the promises that did not hold."""

    rows: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    """Promises about a time. A loaded machine breaks them too: the program fails then, no test does."""
    tables: list[Table] = field(default_factory=list)
    """Further tables, shown first."""

    def require(self, what: str, seen: object, *, holds: bool) -> None:
        """Record a promise."""
        self.rows[what] = str(seen)
        if not holds:
            self.broken.append(what)

    def require_in_time(self, what: str, seen: object, *, holds: bool) -> None:
        """Record a promise about a time."""
        self.rows[what] = str(seen)
        if not holds:
            self.late.append(what)

    def require_none(self, what: str, found: Iterable[object] | Mapping[str, object]) -> None:
        """Record what must not occur, such as failed requests."""
        lines = [f"{name}: {it}" for name, it in found.items()] if isinstance(found, Mapping) else [*map(str, found)]
        text = "\n".join(lines[:_SHOWN_MAX])
        self.require(what, f"{len(lines)}\n{text}" if lines else "none", holds=not lines)

    @property
    def holds(self) -> bool:
        """Return whether every promise held, those about a time aside."""
        return not self.broken

    @property
    def not_as_promised(self) -> list[str]:
        return [*self.broken, *self.late]

    def show(self) -> bool:
        """Print the tables, and return whether all promises held."""
        table = Table("what", "seen", "")
        for what, seen in self.rows.items():
            table.add_row(what, seen, "NOT AS PROMISED" if what in self.not_as_promised else "")
        console = Console(width=150)
        for each in (*self.tables, table):
            console.print(each)
        return not self.not_as_promised


def exit_code_of(run: Coroutine[Any, Any, Report]) -> int:
    """Run a program and show its report. Return 1 when a promise did not hold, or the program could not run."""
    try:
        return 0 if asyncio.run(run).show() else 1
    except _STOPPED as error:
        sys.stderr.write(f"{error or type(error).__name__}\n")
        return 1
