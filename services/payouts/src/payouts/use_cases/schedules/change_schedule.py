"""Change a vendor's payout schedule."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.errors import BelowMinimum
from payouts.domain.schedules import Schedule, due_after
from payouts.store import schedules


async def change_schedule(
    uow: UnitOfWork, vendor_id: UUID, schedule: Schedule, minimum_minor: int, by: UUID, now: datetime
) -> None:
    """Save the schedule and its next due time. Raises BelowMinimum (422) for a minimum under the platform's, in
    kobo.
    """
    if schedule.minimum_minor is not None and schedule.minimum_minor < minimum_minor:
        raise BelowMinimum.for_parameter("minimumMinor", minimum_minor)
    current, due_at = await schedules.lock_schedule(uow, vendor_id)
    # The same days again: a period that is due now is not lost.
    if not current.fires_when(schedule):
        due_at = due_after(schedule, now)
    await schedules.save_schedule(uow, vendor_id, schedule, due_at, by, now)
