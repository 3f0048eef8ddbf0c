"""SQL for writes to schedules and to the decisions of their periods. No decision is made here."""

from datetime import date, datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.schedules import DueSchedule, Schedule, SkippedReason

_LOCK_SCHEDULE: Final = """
SELECT frequency, weekday, minimum_minor, due_at FROM payout_schedules WHERE vendor_id = $1 FOR UPDATE
"""
_SAVE_SCHEDULE: Final = """
INSERT INTO payout_schedules (vendor_id, frequency, weekday, minimum_minor, due_at, changed_by, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (vendor_id) DO UPDATE SET frequency = excluded.frequency, weekday = excluded.weekday,
    minimum_minor = excluded.minimum_minor, due_at = excluded.due_at, changed_by = excluded.changed_by,
    updated_at = excluded.updated_at
"""
# A schedule that another worker has locked is skipped: that worker decides.
_CLAIM_DUE: Final = """
SELECT vendor_id, frequency, weekday, minimum_minor, due_at, changed_by FROM payout_schedules
WHERE due_at <= $1 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_IS_DECIDED: Final = "SELECT EXISTS (SELECT FROM scheduled_payouts WHERE vendor_id = $1 AND period = $2)"
_RECORD_DECISION: Final = """
INSERT INTO scheduled_payouts (vendor_id, period, outcome, reason, payout_id, available_minor, due_at, decided_at)
VALUES ($1, $2, CASE WHEN $3::text IS NULL THEN 'requested' ELSE 'skipped' END, $3, $4, $5, $6, $7)
"""
_SAVE_NEXT: Final = "UPDATE payout_schedules SET due_at = $2 WHERE vendor_id = $1"


async def lock_schedule(uow: UnitOfWork, vendor_id: UUID) -> tuple[Schedule, datetime | None]:
    """Locks the vendor's schedule and returns it with its due time; `none` without one."""
    row = await uow.fetch_row(_LOCK_SCHEDULE, vendor_id)
    if row is None:
        return Schedule(), None
    return Schedule(row["frequency"], row["weekday"], row["minimum_minor"]), row["due_at"]


async def save_schedule(
    uow: UnitOfWork, vendor_id: UUID, schedule: Schedule, due_at: datetime | None, by: UUID, at: datetime
) -> None:
    values = (vendor_id, schedule.frequency, schedule.weekday, schedule.minimum_minor, due_at, by, at)
    await uow.execute(_SAVE_SCHEDULE, *values)


async def claim_due_schedule(uow: UnitOfWork, now: datetime) -> DueSchedule | None:
    """Claims a due schedule until the end of the unit of work."""
    row = await uow.fetch_row(_CLAIM_DUE, now)
    if row is None:
        return None
    schedule = Schedule(row["frequency"], row["weekday"], row["minimum_minor"])
    return DueSchedule(row["vendor_id"], schedule, row["due_at"], row["changed_by"])


async def period_is_decided(uow: UnitOfWork, vendor_id: UUID, period: date) -> bool:
    return bool(await uow.fetch_value(_IS_DECIDED, vendor_id, period))


async def record_decision(
    uow: UnitOfWork,
    vendor_id: UUID,
    period: date,
    decided: SkippedReason | UUID,
    available_minor: int,
    due_at: datetime,
    at: datetime,
) -> None:
    """Record the decision of a period: the requested payout, or why it was skipped."""
    payout_id, reason = (decided, None) if isinstance(decided, UUID) else (None, decided)
    await uow.execute(_RECORD_DECISION, vendor_id, period, reason, payout_id, available_minor, due_at, at)


async def save_next_due(uow: UnitOfWork, vendor_id: UUID, due_at: datetime | None) -> None:
    await uow.execute(_SAVE_NEXT, vendor_id, due_at)
