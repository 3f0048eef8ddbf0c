"""Record the end of a drill."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.drills import Measured
from notifications.deliveries.domain.errors import DrillEnded
from notifications.deliveries.queries.drills import get_drill
from notifications.deliveries.store.drills import save_drill_ended


async def end_drill(uow: UnitOfWork, drill_id: UUID, measured: Measured, now: datetime) -> None:
    """Record what a running drill reached. Raises NotFound, and DrillEnded for one that ended before."""
    if not await save_drill_ended(uow, drill_id, measured, now):
        await get_drill(uow, drill_id)
        raise DrillEnded
