"""SQL for writes to the approvals of payout runs. Nothing here decides."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.decisions import DecisionTable
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import PreparedDecision

_SAVE: Final = """
INSERT INTO dispatch_approvals (batch_id, status, hash, prepared_by, prepared_at) VALUES ($1, 'prepared', $2, $3, $4)
ON CONFLICT (batch_id) DO NOTHING
"""
_LOCK: Final = "SELECT status, prepared_by, hash FROM dispatch_approvals WHERE batch_id = $1 FOR UPDATE"
_FIND_DECIDER: Final = "SELECT decided_by FROM dispatch_approvals WHERE batch_id = $1"
TABLE: Final = DecisionTable("dispatch_approvals", key="batch_id")


async def save_approval_if_new(uow: UnitOfWork, batch_id: UUID, list_hash: str, by: UUID, at: datetime) -> bool:
    """Save the prepared approval; False when the preview has one already."""
    return await uow.execute(_SAVE, batch_id, list_hash, by, at) == 1


async def lock_approval(uow: UnitOfWork, batch_id: UUID) -> PreparedDecision | None:
    """Lock the approval of a preview: of two decisions at once, the second sees the first."""
    row = await uow.fetch_row(_LOCK, batch_id)
    return None if row is None else PreparedDecision(*row)


async def find_decider(uow: UnitOfWork, batch_id: UUID) -> UUID | None:
    """Return who decided on the approval."""
    decider: UUID | None = await uow.fetch_value(_FIND_DECIDER, batch_id)
    return decider
