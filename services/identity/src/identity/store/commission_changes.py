"""Commission changes that need a second platform_admin."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.decisions import DecisionTable
from common.database.unit_of_work import UnitOfWork
from identity.domain.commission_changes import CommissionChange

TABLE: Final = DecisionTable("commission_changes")
_COLUMNS: Final = "id, vendor_id, before_basis_points, basis_points, prepared_by, expires_at, status"
_FIND_OPEN: Final = f"SELECT {_COLUMNS} FROM commission_changes WHERE vendor_id = $1 AND status = 'prepared'"
_RECORD: Final = """
INSERT INTO commission_changes (id, vendor_id, before_basis_points, basis_points, prepared_by, prepared_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_FIND: Final = f"SELECT {_COLUMNS} FROM commission_changes WHERE id = $1"
_REJECT_OF: Final = f"""
UPDATE commission_changes SET status = 'rejected', decided_by = $2, decided_at = $3
WHERE prepared_by = $1 AND status = 'prepared' AND expires_at > $3 RETURNING {_COLUMNS}
"""


async def find_open_change(uow: UnitOfWork, vendor_id: UUID, now: datetime) -> CommissionChange | None:
    """Return the pending change of a locked vendor; mark an expired one as such."""
    await TABLE.expire(uow, "vendor_id", vendor_id, now)
    row = await uow.fetch_row(_FIND_OPEN, vendor_id)
    return CommissionChange(*row.values()) if row else None


async def record_change(uow: UnitOfWork, change: CommissionChange, now: datetime) -> None:
    values = (change.vendor_id, change.before_basis_points, change.basis_points, change.prepared_by)
    await uow.execute(_RECORD, change.id, *values, now, change.expires_at)


async def find_change(uow: UnitOfWork, change_id: UUID, *, lock: bool = False) -> CommissionChange | None:
    row = await uow.fetch_row(f"{_FIND} FOR UPDATE" if lock else _FIND, change_id)
    return CommissionChange(*row.values()) if row else None


async def reject_changes_of(uow: UnitOfWork, preparer_id: UUID, *, by: UUID, now: datetime) -> list[CommissionChange]:
    """Reject and return the pending changes that this user prepared."""
    return [CommissionChange(*row.values()) for row in await uow.fetch(_REJECT_OF, preparer_id, by, now)]
