"""SQL for writes to payout exceptions. Nothing here decides."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.database import UnitOfWork
from payouts.domain.severity import Cause, Severity, Trouble

_COUNT_COMPANY: Final = """
SELECT
    (SELECT count(DISTINCT e.vendor_id) FROM payout_exceptions AS e
     JOIN payout_transfers AS t ON t.payout_id = e.payout_id
     WHERE t.batch_id = $1 AND e.vendor_id <> $2) AS other_vendors,
    (SELECT count(*) FROM payout_exceptions AS e
     WHERE e.vendor_id = $2 AND e.opened_at > $3
       AND e.cause IN ('account_number_invalid', 'name_mismatch', 'reversed', 'unclassified')) AS rejections
"""
_OPEN_EXCEPTION: Final = """
INSERT INTO payout_exceptions (id, payout_id, batch_id, vendor_id, cause, severity, status, detail, amount, respond_by, opened_at)
VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $8, $9, $10)
ON CONFLICT DO NOTHING
"""
_CLOSE_EXCEPTION: Final = """
UPDATE payout_exceptions SET status = 'closed', closed_at = $2, closed_because = $3 WHERE payout_id = $1 AND status = 'open'
RETURNING id, cause, severity, respond_by
"""
# How far back a rejection still counts as the repetition of one.
REJECTIONS_COUNT_FOR: Final = timedelta(days=30)


async def count_company(uow: UnitOfWork, batch_id: UUID, vendor_id: UUID, now: datetime) -> tuple[int, int]:
    """Vendors of the batch with an exception, this one included; and earlier rejections of this vendor."""
    row = await uow.fetch_row(_COUNT_COMPANY, batch_id, vendor_id, now - REJECTIONS_COUNT_FOR)
    return (row["other_vendors"] + 1, row["rejections"]) if row else (1, 0)


@dataclass(frozen=True, slots=True)
class OpeningException:
    """An exception of a payout, or of a batch."""

    id: UUID
    trouble: Trouble
    severity: Severity
    detail: str
    respond_by: datetime
    payout_id: UUID | None = None
    batch_id: UUID | None = None
    vendor_id: UUID | None = None


async def open_exception_once(uow: UnitOfWork, exception: OpeningException, at: datetime) -> bool:
    """False when the payout or batch has a live one already."""
    values = (
        exception.id,
        exception.payout_id,
        exception.batch_id,
        exception.vendor_id,
        exception.trouble.cause,
        exception.severity,
        exception.detail,
        exception.trouble.amount_minor,
        exception.respond_by,
        at,
    )
    return await uow.execute(_OPEN_EXCEPTION, *values) == 1


@dataclass(frozen=True, slots=True)
class ClosedException:
    id: UUID
    cause: Cause
    severity: Severity
    respond_by: datetime


async def close_exception(uow: UnitOfWork, payout_id: UUID, because: str, at: datetime) -> ClosedException | None:
    """Closes the payout's live exception; None when it has none."""
    row = await uow.fetch_row(_CLOSE_EXCEPTION, payout_id, at, because)
    return None if row is None else ClosedException(row["id"], row["cause"], row["severity"], row["respond_by"])
