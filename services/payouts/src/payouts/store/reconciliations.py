"""SQL for writes to reconciliations. Nothing here decides."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.decisions import DecisionTable
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import DecisionStatus, PreparedDecision
from common.primitives.json_records import JsonObject
from payouts.domain.returns import ReturnKind

_SAVE: Final = """
INSERT INTO reconciliations (id, payout_id, transfer_id, kind, status, reason, postings, hash, prepared_by, prepared_at)
VALUES ($1, $2, $3, $4, 'prepared', $5, $6, $7, $8, $9)
ON CONFLICT (payout_id) WHERE status = 'prepared' DO NOTHING
"""
_FIND: Final = "SELECT payout_id, kind, status, hash, prepared_by FROM reconciliations WHERE id = $1"
_LOCK: Final = f"{_FIND} FOR UPDATE"
TABLE: Final = DecisionTable("reconciliations")


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """A prepared reconciliation, as far as its decision needs it."""

    id: UUID
    payout_id: UUID
    kind: ReturnKind
    status: DecisionStatus
    hash: str
    prepared_by: UUID

    @property
    def decision(self) -> PreparedDecision:
        return PreparedDecision(self.status, self.prepared_by, self.hash)


async def save_reconciliation_if_new(
    uow: UnitOfWork,
    reconciliation: Reconciliation,
    transfer_id: UUID | None,
    postings: list[JsonObject],
    reason: str,
    at: datetime,
) -> bool:
    """Save it; False when the payout has a prepared one already."""
    made = reconciliation
    values = (made.id, made.payout_id, transfer_id, made.kind, reason, postings, made.hash, made.prepared_by, at)
    return await uow.execute(_SAVE, *values) == 1


async def find_reconciliation(uow: UnitOfWork, reconciliation_id: UUID, *, lock: bool = False) -> Reconciliation | None:
    row = await uow.fetch_row(_LOCK if lock else _FIND, reconciliation_id)
    if row is None:
        return None
    return Reconciliation(
        reconciliation_id, row["payout_id"], row["kind"], row["status"], row["hash"], row["prepared_by"]
    )
