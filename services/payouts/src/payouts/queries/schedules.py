"""Reads of a vendor's payout schedule."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.responses.schedules import PayoutSchedule, ScheduledPayout

_FIND_SCHEDULE: Final = """
SELECT frequency, weekday, minimum_minor, due_at AS next_at, updated_at FROM payout_schedules WHERE vendor_id = $1
"""
_FIND_LATEST_DECISION: Final = """
SELECT period::text, outcome, reason, payout_id, available_minor, due_at, decided_at FROM scheduled_payouts
WHERE vendor_id = $1 ORDER BY period DESC LIMIT 1
"""
_NONE: Final = {"frequency": "none", "weekday": None, "minimum_minor": None, "next_at": None, "updated_at": None}


async def find_schedule(uow: UnitOfWork, vendor_id: UUID) -> PayoutSchedule:
    """Return the schedule and the decision of its latest period; `none` where no schedule was ever set."""
    row = await uow.fetch_row(_FIND_SCHEDULE, vendor_id)
    latest = await uow.fetch_row(_FIND_LATEST_DECISION, vendor_id)
    return PayoutSchedule.from_row(
        row or _NONE, vendor_id=vendor_id, latest=None if latest is None else ScheduledPayout.from_row(latest)
    )
