"""SQL for writes to payouts and the batches that send them. Nothing here decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork
from payouts.domain.dispatch import LEASE, Candidate, PlanLine

_SAVE_PAYOUT: Final = """
INSERT INTO payout_requests (id, vendor_id, amount, currency, status, bank_details_version_id, requested_by, created_at, updated_at)
VALUES ($1, $2, $3, 'NGN', 'pending', $4, $5, $6, $6)
"""
_SAVE_BATCH: Final = """
INSERT INTO dispatch_batches (id, dispatched_by, idempotency_key, fingerprint, dry_run, gateway_balance_minor, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (dispatched_by, idempotency_key) DO NOTHING
"""
_FIND_BATCH: Final = """
SELECT id, fingerprint, answer FROM dispatch_batches WHERE dispatched_by = $1 AND idempotency_key = $2
"""
_SAVE_PLAN_LINE: Final = """
INSERT INTO dispatch_lines (batch_id, payout_id, place, outcome, reason, amount) VALUES ($1, $2, $3, $4, $5, $6)
"""
_SETTLE_LINE: Final = """
UPDATE dispatch_lines SET outcome = $3, reason = $4 WHERE batch_id = $1 AND payout_id = $2 AND outcome = 'planned'
"""
_FINISH_BATCH: Final = "UPDATE dispatch_batches SET answer = $2, finished_at = $3 WHERE id = $1 AND answer IS NULL"
_READ_ANSWER: Final = "SELECT answer FROM dispatch_batches WHERE id = $1"
_CANDIDATE_COLUMNS: Final = """
SELECT p.id, p.amount, p.status = 'pending' AS pending,
       EXISTS (SELECT FROM payout_transfers AS t WHERE t.payout_id = p.id AND t.attempt = p.retry_count + 1) AS attempted,
       coalesce(d.verified AND d.account_number = v.account_number AND d.bank_code = v.bank_code, false) AS details_stand,
       EXISTS (SELECT FROM vendors AS seller WHERE seller.id = p.vendor_id AND seller.suspended) AS vendor_suspended
FROM payout_requests AS p
JOIN bank_detail_versions AS v ON v.id = p.bank_details_version_id
LEFT JOIN vendor_bank_details AS d ON d.vendor_id = p.vendor_id
"""
_LIST_NAMED: Final = _CANDIDATE_COLUMNS + "WHERE p.id = ANY ($1) ORDER BY p.created_at, p.id LIMIT $2"
_LIST_WAITING: Final = (
    _CANDIDATE_COLUMNS
    + """
WHERE p.status = 'pending'
  AND NOT EXISTS (SELECT FROM payout_transfers AS t WHERE t.payout_id = p.id AND t.attempt = p.retry_count + 1)
ORDER BY p.created_at, p.id LIMIT $1
"""
)
_LOCK_PAYOUT: Final = """
SELECT vendor_id, amount, currency, retry_count, bank_details_version_id FROM payout_requests WHERE id = $1 FOR UPDATE
"""
_SAVE_TRANSFER: Final = """
INSERT INTO payout_transfers (id, payout_id, vendor_id, batch_id, attempt, reference, status, amount, currency,
                              bank_details_version_id, due_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, 'reserved', $7, $8, $9, $10, $11, $11)
"""
_NAME_REFERENCE: Final = "UPDATE payout_requests SET transfer_reference = $2, updated_at = $3 WHERE id = $1"


async def save_payout(
    uow: UnitOfWork, payout_id: UUID, vendor_id: UUID, amount_minor: int, version_id: UUID, by: UUID, at: datetime
) -> None:
    await uow.execute(_SAVE_PAYOUT, payout_id, vendor_id, amount_minor, version_id, by, at)


@dataclass(frozen=True, slots=True)
class Batch:
    """A dispatch under its caller's key; `answer` stands once it is finished."""

    id: UUID
    fingerprint: bytes
    answer: dict[str, Any] | None


async def find_batch(uow: UnitOfWork, caller_id: UUID, key: UUID) -> Batch | None:
    row = await uow.fetch_row(_FIND_BATCH, caller_id, key)
    return None if row is None else Batch(row["id"], bytes(row["fingerprint"]), row["answer"])


async def save_batch_once(
    uow: UnitOfWork, batch: Batch, caller_id: UUID, key: UUID, *, dry_run: bool, balance_minor: int, at: datetime
) -> bool:
    """False when the caller's key already names a batch: two requests raced, and the other one was first."""
    values = (batch.id, caller_id, key, batch.fingerprint, dry_run, balance_minor, at)
    return await uow.execute(_SAVE_BATCH, *values) == 1


async def save_plan(uow: UnitOfWork, batch_id: UUID, lines: Sequence[PlanLine]) -> None:
    rows = [
        (batch_id, line.payout_id, place, "skipped" if line.skipped else "planned", line.skipped, line.amount_minor)
        for place, line in enumerate(lines)
    ]
    await uow.execute_many(_SAVE_PLAN_LINE, rows)


async def settle_line(uow: UnitOfWork, batch_id: UUID, payout_id: UUID, outcome: str, reason: str | None) -> None:
    await uow.execute(_SETTLE_LINE, batch_id, payout_id, outcome, reason)


async def finish_batch(uow: UnitOfWork, batch_id: UUID, answer: dict[str, Any], at: datetime) -> dict[str, Any]:
    """Keeps the first answer for good, and gives back the one that stands."""
    await uow.execute(_FINISH_BATCH, batch_id, answer, at)
    standing: dict[str, Any] = await uow.fetch_value(_READ_ANSWER, batch_id)
    return standing


async def list_candidates(uow: UnitOfWork, payout_ids: Sequence[UUID] | None, limit: int) -> list[Candidate]:
    """The payouts that were named, or those that wait, oldest first."""
    if payout_ids is None:
        rows = await uow.fetch(_LIST_WAITING, limit)
    else:
        rows = await uow.fetch(_LIST_NAMED, list(payout_ids), limit)
    return [
        Candidate(
            row["id"], row["amount"], row["pending"], row["attempted"], row["details_stand"], row["vendor_suspended"]
        )
        for row in rows
    ]


async def lock_payout(uow: UnitOfWork, payout_id: UUID) -> Any:
    """Holds a payout until the end of the unit of work; whoever changes its transfers or exceptions holds it."""
    return await uow.fetch_row(_LOCK_PAYOUT, payout_id)


async def save_transfer(
    uow: UnitOfWork, transfer_id: UUID, payout_id: UUID, payout: Any, batch_id: UUID, reference: str, at: datetime
) -> None:
    """Writes an attempt down before anybody outside hears of it. Its lease lets the worker take it over."""
    await uow.execute(
        _SAVE_TRANSFER,
        transfer_id,
        payout_id,
        payout["vendor_id"],
        batch_id,
        payout["retry_count"] + 1,
        reference,
        payout["amount"],
        payout["currency"],
        payout["bank_details_version_id"],
        at + LEASE,
        at,
    )
    await uow.execute(_NAME_REFERENCE, payout_id, reference, at)
