"""Readings, their comparison with a limit, and goals. Pure arithmetic."""

import math
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Measured = Literal["rate", "cpu"]


@dataclass(frozen=True, slots=True)
class Effort:
    """The length of a reading in seconds and the number of rounds of path and limit."""

    seconds: float
    rounds: int
    warm_seconds: float
    purchases: int
    """Purchases, whole orders and payouts of a round."""
    rate_seconds: float
    """Of orders at a fixed rate, in a round."""
    idle_seconds: float


FULL = Effort(seconds=3.0, rounds=3, warm_seconds=1.5, purchases=30, rate_seconds=20.0, idle_seconds=30.0)
QUICK = Effort(seconds=1.0, rounds=2, warm_seconds=0.5, purchases=15, rate_seconds=5.0, idle_seconds=10.0)


@dataclass(frozen=True, slots=True)
class Reading:
    """One run. Response times are in milliseconds, CPU in seconds of user and system time."""

    requests: int
    seconds: float
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu_seconds: float | None = None
    database_cpu_seconds: float | None = None

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    @property
    def cpu_us(self) -> float | None:
        """CPU of the server per request in microseconds, without the database."""
        return None if self.cpu_seconds is None else self.cpu_seconds / self.requests * 1e6

    @property
    def database_cpu_us(self) -> float | None:
        return None if self.database_cpu_seconds is None else self.database_cpu_seconds / self.requests * 1e6


@dataclass(frozen=True, slots=True)
class Figures:
    """The medians of several readings."""

    rate: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu_us: float | None = None
    database_cpu_us: float | None = None

    @classmethod
    def of(cls, readings: Sequence[Reading]) -> "Figures":
        return cls(
            *(
                _median([getattr(reading, name) for reading in readings])
                for name in ("rate", "p50_ms", "p99_ms", "cpu_us", "database_cpu_us")
            )
        )


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound of one figure of a row."""

    number: str
    """`ratio`, `value`, or a field of the path's figures."""
    bound: float
    at_least: bool = False
    unit: str = ""

    def met_by(self, found: float | None) -> bool:
        if found is None:
            return False
        return found >= self.bound if self.at_least else found <= self.bound

    def __str__(self) -> str:
        name = {"cpu_us": "CPU ", "p50_ms": "p50 ", "p99_ms": "p99 "}.get(self.number, "")
        return f"{name}{'≥' if self.at_least else '≤'} {self.bound:g}{self.unit}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    path: str
    limit: str
    figures: Figures
    limit_figures: Figures | None = None
    ratio: float | None = None
    value: float | None = None
    unit: str = ""
    """The unit of `value`, for example MiB."""
    goals: tuple[Goal, ...] = ()
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    """Further figures for the file of results, of the path (`own`) and its limit."""

    def found(self, goal: Goal) -> float | None:
        """Return the figure that the goal bounds."""
        number: float | None = (
            getattr(self, goal.number) if goal.number in ("ratio", "value") else getattr(self.figures, goal.number)
        )
        return number

    @property
    def met(self) -> bool | None:
        """Return whether every goal is met; None without a goal."""
        return all(goal.met_by(self.found(goal)) for goal in self.goals) if self.goals else None


Run = Callable[[float], Awaitable[Reading]]
"""Runs for a number of seconds."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its name in the table, and its run."""

    name: str
    run: Run


async def alternate(
    path: Side, limit: Side, *, measured: Measured, effort: Effort, goals: Sequence[Goal] = (), note: str = ""
) -> Row:
    """Warm up both and run them in turns. The ratio is the median of the rounds: other load affects both sides."""
    await limit.run(effort.warm_seconds)
    await path.run(effort.warm_seconds)
    readings, limits = [], []
    for _ in range(effort.rounds):
        limits.append(await limit.run(effort.seconds))
        readings.append(await path.run(effort.seconds))
    ratio = _median([_ratio(one, other, measured) for one, other in zip(readings, limits, strict=True)])
    return Row(path.name, limit.name, Figures.of(readings), Figures.of(limits), ratio, goals=tuple(goals), note=note)


def percentile(times: Sequence[float], share: float) -> float | None:
    """Return the nearest-rank percentile; None without times."""
    if not times:
        return None
    ordered = sorted(times)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _ratio(reading: Reading, limit: Reading, measured: Measured) -> float | None:
    if measured == "rate":
        return reading.rate / limit.rate
    if reading.cpu_us is None or not limit.cpu_us:
        return None
    return reading.cpu_us / limit.cpu_us


def _median(numbers: Sequence[Any]) -> float | None:
    present = [number for number in numbers if number is not None]
    return statistics.median(present) if present else None
