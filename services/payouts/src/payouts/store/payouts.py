"""SQL for writes to payouts and the batches that send them. No decision is made here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.outbox import Writes
from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.ids import new_id
from common.standard_endpoints.stop_routes import IN_FORCE
from common.web.response_models import Row
from payouts.domain.dispatch import LEASE, Candidate, PlanLine
from payouts.domain.release_statements import Cover
from payouts.responses.batches import PayoutDispatch
from providers.gateways import GatewayName

_SAVE_PAYOUT: Final = Writes(
    """
saved_payout AS (
    INSERT INTO payout_requests (id, vendor_id, amount, currency, status, bank_details_version_id, requested_by, number,
                                 created_at, updated_at, idempotency_key)
    VALUES ($1, $2, $3, 'NGN', 'pending', $4, $5, $6, $7, $7, $8)
)""",
    "true AS is_saved",
)
_SAVE_BATCH: Final = """
INSERT INTO dispatch_batches (id, dispatched_by, idempotency_key, fingerprint, dry_run, gateway_balance_minor,
    created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (dispatched_by, idempotency_key) DO NOTHING
"""
_FIND_BATCH: Final = """
SELECT id, fingerprint, answer FROM dispatch_batches WHERE dispatched_by = $1 AND idempotency_key = $2
"""
_SAVE_PLAN_LINE: Final = """
INSERT INTO dispatch_lines (batch_id, payout_id, place, outcome, reason, amount) VALUES ($1, $2, $3, $4, $5, $6)
"""
_SKIP_LINE: Final = """
UPDATE dispatch_lines SET outcome = 'skipped', reason = $3
WHERE batch_id = $1 AND payout_id = $2 AND outcome = 'reserved'
"""
_LIST_PLANNED: Final = (
    "SELECT payout_id FROM dispatch_lines WHERE batch_id = $1 AND outcome <> 'skipped' ORDER BY place"
)
_SAVE_REMAINING: Final = "UPDATE dispatch_batches SET remaining = $2 WHERE id = $1"
_FINISH_BATCH: Final = "UPDATE dispatch_batches SET answer = $2, finished_at = $3 WHERE id = $1 AND answer IS NULL"
_READ_RESPONSE: Final = "SELECT answer FROM dispatch_batches WHERE id = $1"
# A reserved attempt without a lease was never sent and waits as the payout does.
_ATTEMPTED: Final = """EXISTS (SELECT FROM payout_transfers AS t
    WHERE t.payout_id = p.id AND t.attempt = p.retry_count + 1
               AND NOT (t.status = 'reserved' AND t.due_at IS NULL))"""
# The fingerprint includes the bank. Plaintext numbers are compared as they are. A payout that awaits its restitution
# never goes.
_DETAILS_VALID: Final = """coalesce(d.verified AND p.restitution_awaited_since IS NULL
                       AND NOT account_is_quarantined(v.account_fingerprint)
                       AND (d.version_id = v.id OR d.account_fingerprint = v.account_fingerprint
                           OR (d.account_number = v.account_number AND d.bank_code = v.bank_code)), false)"""
# Changed recently: the owner may not have noticed yet.
_DETAILS_COOLING: Final = "coalesce(d.payouts_from > $2, false)"
_SUSPENDED: Final = "EXISTS (SELECT FROM vendors AS seller WHERE seller.id = p.vendor_id AND seller.suspended)"
# A payout requested before a refund or a lost chargeback emptied the wallet can still be recovered.
_HAS_DEBT: Final = """EXISTS (SELECT FROM ledger_balances AS debt
                       WHERE debt.account = 'vendor_debt:' || p.vendor_id AND debt.balance_minor > 0)"""
# The vendor's wallet received more than payments released, or waits too long for a statement.
VENDOR_HELD: Final = """EXISTS (SELECT FROM payout_exceptions AS e WHERE e.vendor_id = p.vendor_id AND e.status = 'open'
                       AND e.payout_id IS NULL AND e.batch_id IS NULL)"""
# A transfer of the vendor was reported as paid although its money was returned (section 8).
_CONTRADICTED: Final = """EXISTS (SELECT FROM transfer_holds AS hold
                       WHERE hold.vendor_id = p.vendor_id AND hold.status = 'held')"""
# Requested after a credit that an open chargeback may take, while the wallet does not hold all of that.
_DISPUTED: Final = """EXISTS (SELECT FROM chargebacks AS c
                       JOIN wallet_lines AS credited ON credited.vendor_id = c.vendor_id
                           AND credited.order_id = c.order_id
                            AND credited.kind IN ('release', 'chargeback_won')
                       JOIN wallet_lines AS requested ON requested.source_key = 'payout:' || p.id
                           AND requested.kind = 'payout'
                       WHERE c.vendor_id = p.vendor_id AND c.status = 'opened' AND c.uncovered_minor > 0
                         AND credited.position < requested.position)"""
_HELD_BY_FINANCE: Final = (
    "EXISTS (SELECT FROM payout_holds AS kept WHERE kept.payout_id = p.id AND kept.status = 'held')"
)
WITH_DETAILS: Final = """
FROM payout_requests AS p
JOIN bank_detail_versions AS v ON v.id = p.bank_details_version_id
LEFT JOIN vendor_bank_details AS d ON d.vendor_id = p.vendor_id
"""
# The columns of `candidate_of`; $2 is the present time.
CANDIDATE_COLUMNS: Final = f"""p.id, p.amount, p.vendor_id, p.status = 'pending' AS pending, {_ATTEMPTED} AS attempted,
       {_DETAILS_VALID} AS details_stand, {_SUSPENDED} AS vendor_suspended, {_DETAILS_COOLING} AS details_cool,
       {_HAS_DEBT} AS vendor_owes, {_CONTRADICTED} AS contradicted, {_DISPUTED} AS disputed,
       {_HELD_BY_FINANCE} AS held, p.number,
       EXISTS (SELECT FROM operation_stops WHERE {IN_FORCE.format(now="$2")}) AS stopped
"""
_LIST_CANDIDATES: Final = f"""
SELECT {CANDIDATE_COLUMNS} {WITH_DETAILS} WHERE p.id = ANY ($1) ORDER BY p.created_at, p.id
"""
# Held payouts come last: any number of them excludes no other from its batch.
_LIST_WAITING: Final = f"""
SELECT p.id {WITH_DETAILS}
WHERE p.status = 'pending' AND NOT {_ATTEMPTED}
ORDER BY {_DETAILS_VALID} AND NOT {_SUSPENDED} AND NOT {_DETAILS_COOLING} AND NOT {_HAS_DEBT} AND NOT {VENDOR_HELD}
         AND NOT {_CONTRADICTED} AND NOT {_DISPUTED} AND NOT {_HELD_BY_FINANCE} DESC,
         p.created_at, p.id LIMIT $1
"""
# The payouts that a dispatch would send now; $1 is the present time.
READY: Final = f"""{WITH_DETAILS}
WHERE p.status = 'pending' AND NOT {_ATTEMPTED} AND {_DETAILS_VALID} AND NOT {_SUSPENDED} AND NOT {_HAS_DEBT}
    AND NOT {VENDOR_HELD}
  AND NOT {_CONTRADICTED} AND NOT {_DISPUTED} AND NOT {_HELD_BY_FINANCE} AND NOT {_DETAILS_COOLING.replace("$2", "$1")}
"""
_COUNT_READY: Final = f"SELECT count(*) {READY}"
_LIST_VENDORS: Final = "SELECT DISTINCT vendor_id FROM payout_requests WHERE id = ANY ($1) ORDER BY vendor_id"
# Always in one order: two batches never wait for each other in a circle.
_LOCK_PAYOUTS: Final = "SELECT id FROM payout_requests WHERE id = ANY ($1) ORDER BY id FOR UPDATE"
# A held attempt is used again with its reference. It was never sent, so that it goes to the present gateway.
_RESERVE: Final = """
INSERT INTO payout_transfers (id, payout_id, vendor_id, batch_id, attempt, reference, status, amount, currency,
                              bank_details_version_id, due_at, created_at, updated_at, gateway)
SELECT $1, p.id, p.vendor_id, $3, p.retry_count + 1, $4, 'reserved', p.amount, p.currency, p.bank_details_version_id,
    $5, $6, $6, $7
FROM payout_requests AS p WHERE p.id = $2
ON CONFLICT (payout_id, attempt) DO UPDATE
SET batch_id = excluded.batch_id, due_at = excluded.due_at, failure = NULL, updated_at = excluded.updated_at,
    gateway = excluded.gateway
WHERE payout_transfers.status = 'reserved' AND payout_transfers.due_at IS NULL
"""
_NAME_REFERENCES: Final = """
UPDATE payout_requests AS p SET transfer_reference = t.reference, updated_at = $2
FROM payout_transfers AS t WHERE t.batch_id = $1 AND t.payout_id = p.id AND t.attempt = p.retry_count + 1
"""


class NewPayout(NamedTuple):
    """A requested payout, to the account of a version of the vendor's bank details."""

    id: UUID
    vendor_id: UUID
    amount_minor: int
    version_id: UUID
    requested_by: UUID
    number: str


async def save_payout_with_next(uow: UnitOfWork, payout: NewPayout, at: datetime, key: UUID | None = None) -> None:
    """Save a pending payout in the statement of its posting. `key` is unique for its user."""
    await uow.write_with_next(_SAVE_PAYOUT, *payout, at, key)


@dataclass(frozen=True, slots=True)
class Batch:
    """A dispatch under its caller's key; `response` is set once it is finished."""

    id: UUID
    fingerprint: bytes
    response: dict[str, object] | None


async def find_batch(reads: Reads, caller_id: UUID, key: UUID) -> Batch | None:
    row = await reads.fetch_row(_FIND_BATCH, caller_id, key)
    return None if row is None else Batch(row["id"], bytes(row["fingerprint"]), row["answer"])


async def save_batch_if_new(
    uow: UnitOfWork, batch: Batch, caller_id: UUID, key: UUID, *, dry_run: bool, balance_minor: int, at: datetime
) -> bool:
    """Save the batch; False when a concurrent request with the same key was first."""
    values = (batch.id, caller_id, key, batch.fingerprint, dry_run, balance_minor, at)
    return await uow.execute(_SAVE_BATCH, *values) == 1


async def save_plan(uow: UnitOfWork, batch_id: UUID, lines: Sequence[PlanLine], outcome: str) -> None:
    """Save the lines in order; those that are not skipped get `outcome`."""
    rows = [
        (batch_id, line.payout_id, position, "skipped" if line.skipped else outcome, line.skipped, line.amount_minor)
        for position, line in enumerate(lines)
    ]
    await uow.execute_many(_SAVE_PLAN_LINE, rows)


async def skip_line(uow: UnitOfWork, batch_id: UUID | None, payout_id: UUID, reason: str) -> None:
    """Mark a selected payout as skipped."""
    await uow.execute(_SKIP_LINE, batch_id, payout_id, reason)


async def save_remaining(uow: UnitOfWork, batch_id: UUID, remaining: int) -> None:
    await uow.execute(_SAVE_REMAINING, batch_id, remaining)


async def finish_batch(uow: UnitOfWork, batch_id: UUID, response: PayoutDispatch, at: datetime) -> dict[str, object]:
    """Save the first response for good, and returns the saved one."""
    await uow.execute(_FINISH_BATCH, batch_id, response, at)
    stored: dict[str, object] = await uow.fetch_value(_READ_RESPONSE, batch_id)
    return stored


async def list_waiting(uow: UnitOfWork, limit: int, now: datetime) -> list[UUID]:
    """Return payouts that wait for a dispatch: those that can be sent first, oldest first."""
    return [row["id"] for row in await uow.fetch(_LIST_WAITING, limit, now)]


async def list_planned(uow: UnitOfWork, batch_id: UUID) -> tuple[UUID, ...]:
    """Return the payouts that a batch or a preview selected, in its order."""
    return tuple(row["payout_id"] for row in await uow.fetch(_LIST_PLANNED, batch_id))


async def count_ready(uow: UnitOfWork, now: datetime) -> int:
    """Count the payouts that could be dispatched now."""
    count: int = await uow.fetch_value(_COUNT_READY, now)
    return count


async def lock_payouts(uow: UnitOfWork, payout_ids: Sequence[UUID]) -> None:
    """Locks payouts until the end of the unit of work, before any change of their transfers or exceptions."""
    await uow.execute(_LOCK_PAYOUTS, list(payout_ids))


async def list_vendors_of(uow: UnitOfWork, payout_ids: Sequence[UUID]) -> list[UUID]:
    return [row["vendor_id"] for row in await uow.fetch(_LIST_VENDORS, list(payout_ids))]


async def list_candidates(
    uow: UnitOfWork, payout_ids: Sequence[UUID], covers: Mapping[UUID, Cover], now: datetime
) -> list[Candidate]:
    """Return the payouts at `now`, oldest first, with each vendor's cover. They must be locked."""
    rows = await uow.fetch(_LIST_CANDIDATES, list(payout_ids), now)
    return [candidate_of(row, covers[row["vendor_id"]]) for row in rows]


def candidate_of(row: Row, cover: Cover) -> Candidate:
    """Return the candidate of a row of `CANDIDATE_COLUMNS`."""
    return Candidate(
        row["id"],
        row["vendor_id"],
        row["amount"],
        cover,
        row["pending"],
        row["attempted"],
        row["details_stand"],
        row["vendor_suspended"],
        row["details_cool"],
        row["vendor_owes"],
        row["contradicted"],
        row["disputed"],
        row["number"],
        row["held"],
        row["stopped"],
    )


async def reserve_transfers(
    uow: UnitOfWork, batch_id: UUID, payout_ids: Sequence[UUID], at: datetime, gateway: GatewayName
) -> None:
    """Record attempts before any call. Their lease lets the worker replace a dead dispatcher."""
    rows = [(new_id(), payout_id, batch_id, f"po-{new_id().hex}", at + LEASE, at, gateway) for payout_id in payout_ids]
    await uow.execute_many(_RESERVE, rows)
    await uow.execute(_NAME_REFERENCES, batch_id, at)
