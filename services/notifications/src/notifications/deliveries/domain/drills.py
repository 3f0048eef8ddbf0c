"""Drills: what one exercises, and what it measured."""

from datetime import datetime
from typing import NamedTuple


class Exercise(NamedTuple):
    """The alert that a drill exercises."""

    name: str
    runbook: str
    severity: str


class Measured(NamedTuple):
    """Instants of a drill, None where it did not reach them, and the steps of the runbook that were used."""

    seen_at: datetime | None
    acknowledged_at: datetime | None
    cleared_at: datetime | None
    runbook_steps: list[int]
