"""Writes of drills."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.drills import Exercise, Measured

_START: Final = """
INSERT INTO drills (id, name, runbook, severity, started_by, started_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT ((ended_at IS NULL)) WHERE ended_at IS NULL DO NOTHING
"""
_END: Final = """
UPDATE drills SET seen_at = $2, acknowledged_at = $3, cleared_at = $4, runbook_steps = $5, ended_at = $6
WHERE id = $1 AND ended_at IS NULL
"""


async def record_drill_if_none_runs(
    uow: UnitOfWork, drill_id: UUID, exercise: Exercise, started_by: UUID, now: datetime
) -> bool:
    """Return whether the drill is recorded: no other one runs."""
    return bool(await uow.execute(_START, drill_id, *exercise, started_by, now))


async def save_drill_ended(uow: UnitOfWork, drill_id: UUID, measured: Measured, now: datetime) -> bool:
    """Return whether the drill was running."""
    return bool(await uow.execute(_END, drill_id, *measured, now))
