"""Record the start of a drill."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from notifications.deliveries.domain.drills import Exercise
from notifications.deliveries.domain.errors import DrillInProduction, DrillRunning
from notifications.deliveries.store.drills import record_drill_if_none_runs


async def start_drill(
    uow: UnitOfWork, exercise: Exercise, user_id: UUID, now: datetime, *, is_production: bool
) -> UUID:
    """Return the id of the new drill. Raises DrillInProduction, and DrillRunning while another one runs."""
    if is_production:
        raise DrillInProduction
    drill_id = new_id()
    if not await record_drill_if_none_runs(uow, drill_id, exercise, user_id, now):
        raise DrillRunning
    return drill_id
