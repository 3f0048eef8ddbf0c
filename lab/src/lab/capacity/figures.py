"""What was measured of a running system, and how it is kept: the page and the arithmetic are made from it again at any time."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[4]
KEPT: Final = ROOT / "docs/capacity-measured.json"


@dataclass(frozen=True, slots=True)
class Table:
    """One table: rows written for one step, and what a row with its index entries weighs."""

    rows: float
    changes: float
    """Updates and deletions."""
    row_bytes: float
    index_bytes: float

    @property
    def bytes(self) -> float:
        """Written and kept for one step, before any retention."""
        return self.rows * (self.row_bytes + self.index_bytes)


@dataclass(frozen=True, slots=True)
class Step:
    """What one step (an order, a payout, a read) costs, the idle time of everything taken off."""

    count: int
    cpu_ms: dict[str, float]
    """User and system time by process; databases as `<service>-db`, what all databases share as `postgresql`, and `broker`."""
    commits: dict[str, float]
    """Transactions by service."""
    tables: dict[str, Table]
    """By `<service>.<table>`."""
    messages: dict[str, float]
    """Messages that each queue handed out and had acknowledged."""
    log_bytes: float
    """Written ahead (WAL), of all databases together."""


@dataclass(frozen=True, slots=True)
class Measured:
    """All figures of one run, with the machine and the day that they are of."""

    day: str
    machine: str
    load: float
    """Runnable tasks on a core in the mean of the run (1: all busy with this)."""
    idle_cpu_ms: dict[str, float]
    """Of each second in which nobody asks anything, by process."""
    idle_commits: dict[str, float]
    """Transactions of such a second, by service: loops that look and find nothing."""
    order: Step
    payout: Step
    read: Step

    def written(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def kept(path: Path = KEPT) -> Measured:
    """The figures of the last run that was kept."""
    stored: dict[str, Any] = json.loads(path.read_text())
    stored |= {name: _step(stored[name]) for name in ("order", "payout", "read")}
    return Measured(**stored)


def _step(stored: dict[str, Any]) -> Step:
    return Step(**{**stored, "tables": {name: Table(**table) for name, table in stored["tables"].items()}})
