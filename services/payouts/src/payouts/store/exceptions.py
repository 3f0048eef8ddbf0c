"""SQL for writes to payout exceptions and their history. No decision is made here."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.severities import Severity
from payouts.domain.exceptions import ExceptionAction, Finding, OpenException, Settlement
from payouts.domain.payout_transitions import EXCEPTION
from payouts.domain.severity import Cause, ExceptionContext

# Of two concurrent failures of one batch, the second counts the first. Payout and transfer are locked before the batch,
# everywhere; a new attempt of the batch only shares the row, and does not wait.
_LOCK_BATCH: Final = "SELECT FROM dispatch_batches WHERE id = $1 FOR NO KEY UPDATE"
_COUNT_RELATED: Final = """
SELECT
    (SELECT count(DISTINCT e.vendor_id) FROM payout_exceptions AS e
     JOIN payout_transfers AS t ON t.id = e.transfer_id
     WHERE t.batch_id = $1 AND e.vendor_id <> $2) + 1 AS vendors_in_batch,
    (SELECT count(*) FROM payout_exceptions AS e
     WHERE e.vendor_id = $2 AND e.opened_at > $3 AND e.transfer_id IS DISTINCT FROM $4
       AND e.cause IN ('account_number_invalid', 'name_mismatch', 'reversed', 'unclassified')) AS rejections
"""
_OPEN_EXCEPTION: Final = """
INSERT INTO payout_exceptions (id, payout_id, batch_id, vendor_id, cause, severity, status, detail, amount, respond_by,
                               opened_at, transfer_id)
VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING
"""
_OPEN_EXCEPTION_COLUMNS: Final = """
SELECT e.id, e.payout_id, e.batch_id, e.vendor_id, e.cause, e.severity, e.status, e.detail, e.respond_by, e.opened_at,
       e.transfer_id, EXISTS (SELECT FROM payout_exception_acts AS a
           WHERE a.exception_id = e.id AND a.kind = 'classified') AS classified,
       (SELECT p.number FROM payout_requests AS p WHERE p.id = e.payout_id) AS number
FROM payout_exceptions AS e
"""
_LOCK_EXCEPTION: Final = _OPEN_EXCEPTION_COLUMNS + "WHERE e.id = $1 FOR NO KEY UPDATE OF e"
_LOCK_OPEN: Final = _OPEN_EXCEPTION_COLUMNS + "WHERE e.payout_id = $1 AND e.status = 'open' FOR NO KEY UPDATE OF e"
_LOCK_OPEN_OF_VENDOR: Final = (
    _OPEN_EXCEPTION_COLUMNS
    + """
WHERE e.vendor_id = $1 AND e.payout_id IS NULL AND e.batch_id IS NULL AND e.status = 'open' FOR NO KEY UPDATE OF e
"""
)
_LOCK_OPEN_OF_BATCH: Final = (
    _OPEN_EXCEPTION_COLUMNS
    + """
JOIN payout_transfers AS t ON t.id = e.transfer_id
WHERE t.batch_id = $1 AND e.status = 'open' ORDER BY e.id FOR NO KEY UPDATE OF e
"""
)
_FIND_PAYOUT_OF: Final = "SELECT payout_id FROM payout_exceptions WHERE id = $1"
_SAVE_FINDING: Final = "UPDATE payout_exceptions SET cause = $2, severity = $3, respond_by = $4 WHERE id = $1"
_CLOSE: Final = f"""
UPDATE payout_exceptions SET status = 'closed', closed_at = $2, closed_because = $3
WHERE id = $1 AND status IN {states_before(EXCEPTION, "closed")}
"""
_RECORD_ACTION: Final = """
INSERT INTO payout_exception_acts (id, exception_id, kind, acted_by, severity_before, severity_after, cause_before,
                                   cause_after, note, acted_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_HAS_NOTE: Final = "SELECT EXISTS (SELECT FROM payout_exception_acts WHERE exception_id = $1 AND note = $2)"
_READ_SETTLEMENT: Final = """
SELECT p.status,
       EXISTS (SELECT FROM payout_transfers AS t WHERE t.payout_id = p.id
               AND transfer_returned_at(t.id) IS NOT NULL) AS reversed_after_success,
       EXISTS (SELECT FROM wallet_lines AS l
           WHERE l.payout_id = p.id AND l.kind IN ('restitution', 'reversal')) AS returned,
       EXISTS (SELECT FROM transfer_holds AS h WHERE h.payout_id = p.id AND h.status = 'held') AS held
FROM payout_requests AS p WHERE p.id = $1
"""
# An earlier rejection within this time makes a new one a repetition.
REJECTIONS_COUNT_FOR: Final = timedelta(days=30)


class RelatedExceptions(NamedTuple):
    """How many vendors of the batch have an exception, this one included, and how often this vendor was rejected
    before.
    """

    vendors_in_batch: int = 1
    earlier_rejections: int = 0


async def count_related_exceptions(
    uow: UnitOfWork, batch_id: UUID | None, vendor_id: UUID, transfer_id: UUID, now: datetime
) -> RelatedExceptions:
    """Locks the batch and counts. A retry belongs to no batch."""
    if batch_id is not None:
        await uow.execute(_LOCK_BATCH, batch_id)
    row = await uow.fetch_row(_COUNT_RELATED, batch_id, vendor_id, now - REJECTIONS_COUNT_FOR, transfer_id)
    return RelatedExceptions(*row) if row else RelatedExceptions()


@dataclass(frozen=True, slots=True)
class OpeningException:
    """A new exception of a payout and its attempt, of a batch, or of a vendor."""

    id: UUID
    trouble: ExceptionContext
    severity: Severity
    detail: str
    respond_by: datetime
    payout_id: UUID | None = None
    batch_id: UUID | None = None
    vendor_id: UUID | None = None
    transfer_id: UUID | None = None


async def open_exception_if_new(uow: UnitOfWork, exception: OpeningException, at: datetime) -> bool:
    """Open the exception; False when the payout, batch or vendor has an open one already."""
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
        exception.transfer_id,
    )
    return await uow.execute(_OPEN_EXCEPTION, *values) == 1


async def lock_exception(uow: UnitOfWork, exception_id: UUID) -> OpenException | None:
    """Locks an exception until the end of the unit of work."""
    row = await uow.fetch_row(_LOCK_EXCEPTION, exception_id)
    return None if row is None else _open_exception(row)


async def lock_open_exception(uow: UnitOfWork, payout_id: UUID) -> OpenException | None:
    """Locks the payout's open exception, if it has one."""
    row = await uow.fetch_row(_LOCK_OPEN, payout_id)
    return None if row is None else _open_exception(row)


async def lock_open_exception_of_vendor(uow: UnitOfWork, vendor_id: UUID) -> OpenException | None:
    """Locks the open exception that holds all payouts of the vendor, if there is one."""
    row = await uow.fetch_row(_LOCK_OPEN_OF_VENDOR, vendor_id)
    return None if row is None else _open_exception(row)


async def lock_open_exceptions_of_batch(uow: UnitOfWork, batch_id: UUID) -> list[OpenException]:
    """Locks the open exceptions of a batch's attempts, always in the same order."""
    return [_open_exception(row) for row in await uow.fetch(_LOCK_OPEN_OF_BATCH, batch_id)]


async def find_payout_of_exception(uow: UnitOfWork, exception_id: UUID) -> UUID | None:
    """Return the payout of the exception; None for an exception of a batch or of a vendor."""
    payout_id: UUID | None = await uow.fetch_value(_FIND_PAYOUT_OF, exception_id)
    return payout_id


async def save_finding(uow: UnitOfWork, exception_id: UUID, finding: Finding, respond_by: datetime) -> None:
    await uow.execute(_SAVE_FINDING, exception_id, finding.cause, finding.severity, respond_by)


async def save_closed(uow: UnitOfWork, exception_id: UUID, reason: str, at: datetime) -> None:
    await change_state(uow, _CLOSE, exception_id, at, reason)


async def record_exception_action(uow: UnitOfWork, exception_id: UUID, action: ExceptionAction, at: datetime) -> None:
    """Append a line to the history. Lines never change."""
    await uow.execute(
        _RECORD_ACTION,
        new_id(),
        exception_id,
        action.kind,
        action.by,
        action.before.severity,
        action.after.severity,
        action.before.cause,
        action.after.cause,
        action.note,
        at,
    )


async def has_note(uow: UnitOfWork, exception_id: UUID, note: str) -> bool:
    """Return whether the history has this note already: the gateway repeats itself."""
    return bool(await uow.fetch_value(_HAS_NOTE, exception_id, note))


async def read_settlement(uow: UnitOfWork, payout_id: UUID) -> Settlement:
    """Return where the payout's money is. The payout must be locked."""
    row = await uow.fetch_row(_READ_SETTLEMENT, payout_id)
    if row is None:
        raise AssertionError("a payout is never removed")
    return Settlement(*row)


def _open_exception(row: asyncpg.Record) -> OpenException:
    cause: Cause = row["cause"]
    return OpenException(
        row["id"],
        row["payout_id"],
        row["batch_id"],
        row["vendor_id"],
        Finding(cause, row["severity"]),
        row["detail"],
        row["respond_by"],
        row["opened_at"],
        EXCEPTION.allows(row["status"], "closed"),
        row["classified"],
        row["transfer_id"],
        row["number"],
    )
