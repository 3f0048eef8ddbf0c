"""Change when a vendor's payouts are asked for by themselves."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.errors import BelowMinimum
from payouts.domain.schedules import Schedule, due_after
from payouts.store import schedules


async def change_schedule(
    uow: UnitOfWork, vendor_id: UUID, wanted: Schedule, minimum_minor: int, by: UUID, now: datetime
) -> None:
    """Keeps the schedule and when it is due next. Raises BelowMinimum (422) for a minimum under the platform's, in kobo."""
    if wanted.minimum_minor is not None and wanted.minimum_minor < minimum_minor:
        raise BelowMinimum.told("minimumMinor", minimum_minor)
    standing, due_at = await schedules.lock_schedule(uow, vendor_id)
    # The same days again: a period that is due at this moment is not lost.
    if not standing.fires_when(wanted):
        due_at = due_after(wanted, now)
    await schedules.save_schedule(uow, vendor_id, wanted, due_at, by, now)
