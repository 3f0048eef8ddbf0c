"""Resets of lost second factors."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.decisions import DecisionTable
from common.database.unit_of_work import UnitOfWork
from identity.domain.factor_resets import FactorReset

TABLE: Final = DecisionTable("factor_resets", has_rejection=False)
_COLUMNS: Final = "id, user_id, reason, prepared_by, prepared_at, expires_at, status"
_FIND_OPEN: Final = f"SELECT {_COLUMNS} FROM factor_resets WHERE user_id = $1 AND status = 'prepared'"
_RECORD: Final = """
INSERT INTO factor_resets (id, user_id, reason, prepared_by, prepared_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
"""
_FIND: Final = f"SELECT {_COLUMNS} FROM factor_resets WHERE id = $1"
_REJECT_OF: Final = f"""
UPDATE factor_resets SET status = 'rejected', decided_by = $2, decided_at = $3
WHERE prepared_by = $1 AND user_id <> $2 AND status = 'prepared' AND expires_at > $3 RETURNING {_COLUMNS}
"""


async def find_open_reset(uow: UnitOfWork, user_id: UUID, now: datetime) -> FactorReset | None:
    """Return the pending reset of a locked account; mark an expired one as such."""
    await TABLE.expire(uow, "user_id", user_id, now)
    row = await uow.fetch_row(_FIND_OPEN, user_id)
    return FactorReset(*row.values()) if row else None


async def record_reset(uow: UnitOfWork, reset: FactorReset) -> None:
    values = (reset.user_id, reset.reason, reset.prepared_by, reset.prepared_at, reset.expires_at)
    await uow.execute(_RECORD, reset.id, *values)


async def find_reset(uow: UnitOfWork, reset_id: UUID, *, lock: bool = False) -> FactorReset | None:
    row = await uow.fetch_row(f"{_FIND} FOR UPDATE" if lock else _FIND, reset_id)
    return FactorReset(*row.values()) if row else None


async def reject_resets_of(uow: UnitOfWork, preparer_id: UUID, *, by: UUID, now: datetime) -> list[FactorReset]:
    """Reject and return the pending resets that this user prepared."""
    return [FactorReset(*row.values()) for row in await uow.fetch(_REJECT_OF, preparer_id, by, now)]
