"""Reads of a vendor's payout schedule."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso_or_none

_FIND_SCHEDULE: Final = """
SELECT frequency, weekday, minimum_minor, due_at, updated_at FROM payout_schedules WHERE vendor_id = $1
"""
_FIND_LATEST_DECISION: Final = """
SELECT period, outcome, reason, payout_id, available_minor, due_at, decided_at FROM scheduled_payouts
WHERE vendor_id = $1 ORDER BY period DESC LIMIT 1
"""


async def find_schedule(uow: UnitOfWork, vendor_id: UUID) -> dict[str, Any]:
    """Returns the schedule and the decision of its latest period; `none` where no schedule was ever set."""
    row = await uow.fetch_row(_FIND_SCHEDULE, vendor_id)
    latest = await uow.fetch_row(_FIND_LATEST_DECISION, vendor_id)
    return {
        "vendorId": vendor_id,
        "frequency": row["frequency"] if row else "none",
        "weekday": row["weekday"] if row else None,
        "minimumMinor": row["minimum_minor"] if row else None,
        "nextAt": iso_or_none(row["due_at"]) if row else None,
        "updatedAt": iso_or_none(row["updated_at"]) if row else None,
        "latest": None if latest is None else _decision(latest),
    }


def _decision(row: Any) -> dict[str, Any]:
    return {
        "period": row["period"].isoformat(),
        "outcome": row["outcome"],
        "reason": row["reason"],
        "payoutId": row["payout_id"],
        "availableMinor": row["available_minor"],
        "dueAt": iso_or_none(row["due_at"]),
        "decidedAt": iso_or_none(row["decided_at"]),
    }
