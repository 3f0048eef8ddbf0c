"""Disputes and their resolutions, touched only under the lock of the order's row."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.decisions import DecisionTable
from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import DECISION
from orders.domain.disputes import ChargeOutcome, Complaint, DisputeOutcome, EvidenceAuthor, Resolution
from orders.domain.orders import Order
from orders.domain.refund_destinations import RefundTo

_RECORD_DISPUTE: Final = """
INSERT INTO order_disputes (order_id, buyer_id, vendor_id, cause, reason, details, raised_by, raised_at, refund_to)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
_CLOSE_DISPUTE: Final = """
UPDATE order_disputes SET outcome = $2, ended_at = $3 WHERE order_id = $1 AND outcome IS NULL RETURNING refund_to
"""
# Events of payments arrive in any order: the highest sequence wins.
_SAVE_CHARGE_OUTCOME: Final = """
UPDATE order_disputes SET charge_outcome = $2, charge_sequence = $3 WHERE order_id = $1 AND charge_sequence < $3
"""
_COUNT_EVIDENCE: Final = "SELECT count(*) FROM dispute_evidence WHERE order_id = $1 AND author = $2"
_RECORD_EVIDENCE: Final = """
INSERT INTO dispute_evidence (id, order_id, author, byte_count, created_at) VALUES ($1, $2, $3, $4, $5)
"""
_RESOLUTION_COLUMNS: Final = "id, order_id, outcome, refund_minor, status, prepared_by, reason"
_FIND_RESOLUTION: Final = f"SELECT {_RESOLUTION_COLUMNS} FROM dispute_resolutions WHERE id = $1"
_LOCK_RESOLUTION: Final = f"{_FIND_RESOLUTION} FOR UPDATE"
_RECORD_RESOLUTION: Final = """
INSERT INTO dispute_resolutions (id, order_id, outcome, refund_minor, status, prepared_by, reason, prepared_at)
VALUES ($1, $2, $3, $4, 'prepared', $5, $6, $7)
ON CONFLICT (order_id) WHERE status = 'prepared' DO NOTHING
"""
TABLE: Final = DecisionTable("dispute_resolutions", has_rejection=False)
# The amounts of an approval are written with it, once.
_SAVE_APPROVAL: Final = f"""
UPDATE dispute_resolutions SET status = 'approved', decided_by = $2, decided_at = $3, release_minor = $4, refund_id = $5
WHERE id = $1 AND status IN {states_before(DECISION, "approved")}
"""


async def record_dispute(uow: UnitOfWork, order: Order, complaint: Complaint, now: datetime) -> None:
    """Record why the order is disputed; an order has at most one dispute."""
    await uow.execute(
        _RECORD_DISPUTE,
        order.id,
        order.buyer_id,
        order.vendor_id,
        complaint.cause,
        complaint.reason,
        complaint.details,
        complaint.raised_by,
        now,
        complaint.refund_to,
    )


async def close_dispute(uow: UnitOfWork, order_id: UUID, outcome: DisputeOutcome, now: datetime) -> RefundTo | None:
    """Close the order's dispute with this outcome; return the buyer's choice for a refund."""
    refund_to: RefundTo | None = await uow.fetch_value(_CLOSE_DISPUTE, order_id, outcome, now)
    return refund_to


async def save_charge_outcome(uow: UnitOfWork, order_id: UUID, outcome: ChargeOutcome | None, sequence: int) -> None:
    """Save the bank's decision (None while it is open) that payments reported with this sequence."""
    await uow.execute(_SAVE_CHARGE_OUTCOME, order_id, outcome, sequence)


async def count_evidence(uow: UnitOfWork, order_id: UUID, author: EvidenceAuthor) -> int:
    count: int = await uow.fetch_value(_COUNT_EVIDENCE, order_id, author)
    return count


async def record_evidence(
    uow: UnitOfWork, evidence_id: UUID, order_id: UUID, author: EvidenceAuthor, byte_count: int, now: datetime
) -> None:
    """Record a stored image of this many bytes."""
    await uow.execute(_RECORD_EVIDENCE, evidence_id, order_id, author, byte_count, now)


async def record_resolution_if_new(uow: UnitOfWork, resolution: Resolution, now: datetime) -> bool:
    """Record a prepared resolution; False while another one of the order is prepared."""
    prepared = resolution
    values = (prepared.id, prepared.order_id, prepared.outcome, prepared.refund_minor)
    return await uow.execute(_RECORD_RESOLUTION, *values, prepared.prepared_by, prepared.reason, now) == 1


async def find_resolution(uow: UnitOfWork, resolution_id: UUID) -> Resolution | None:
    """Return the resolution; None when it is absent or invisible to the caller."""
    row = await uow.fetch_row(_FIND_RESOLUTION, resolution_id)
    return None if row is None else Resolution(*row)


async def lock_resolution(uow: UnitOfWork, resolution_id: UUID) -> Resolution | None:
    """Return the resolution, locked until the transaction ends, so that concurrent decisions run one after the
    other.
    """
    row = await uow.fetch_row(_LOCK_RESOLUTION, resolution_id)
    return None if row is None else Resolution(*row)


async def save_approval(
    uow: UnitOfWork, resolution_id: UUID, by: UUID, now: datetime, release_minor: int, refund_id: UUID | None
) -> None:
    await change_state(uow, _SAVE_APPROVAL, resolution_id, by, now, release_minor, refund_id)
