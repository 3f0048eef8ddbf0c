"""The measured figures of a system, stored as JSON for the page and the calculation."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[4]
KEPT: Final = ROOT / "docs/capacity-measured.json"


@dataclass(frozen=True, slots=True)
class Table:
    """One table: rows written per step, and the bytes of a row and its index entries."""

    rows: float
    changes: float
    """Updates and deletions."""
    row_bytes: float
    index_bytes: float

    @property
    def bytes(self) -> float:
        """Bytes written per step, without retention."""
        return self.rows * (self.row_bytes + self.index_bytes)


@dataclass(frozen=True, slots=True)
class Step:
    """The cost of one step (an order, a payout, a read) without idle time."""

    count: int
    cpu_ms: dict[str, float]
    """User and system time by process; `<service>-db` are databases, `postgresql` is their shared part, and `broker`."""
    commits: dict[str, float]
    """Transactions by service."""
    tables: dict[str, Table]
    """By `<service>.<table>`."""
    messages: dict[str, float]
    """Acknowledged messages by queue."""
    log_bytes: float
    """Write-ahead log (WAL) of all databases."""
    published: float = 0.0
    """Messages that processes published to the broker."""


@dataclass(frozen=True, slots=True)
class Measured:
    """All figures of one run, with its machine and day."""

    day: str
    machine: str
    load: float
    """Mean number of runnable tasks per core (1: fully used by the run)."""
    idle_cpu_ms: dict[str, float]
    """CPU of a second without requests, by process."""
    idle_commits: dict[str, float]
    """Transactions of a second without requests, by service: polling loops."""
    order: Step
    payout: Step
    read: Step

    def written(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def kept(path: Path = KEPT) -> Measured:
    """Return the stored figures of the last run."""
    stored: dict[str, Any] = json.loads(path.read_text())
    stored |= {name: _step(stored[name]) for name in ("order", "payout", "read")}
    return Measured(**stored)


def _step(stored: dict[str, Any]) -> Step:
    return Step(**{**stored, "tables": {name: Table(**table) for name, table in stored["tables"].items()}})
