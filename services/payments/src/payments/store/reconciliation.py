"""SQL of the reconciliation: what the book and the orders hold, and the cases of what nobody can explain."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.domain.reconciliation import HEALING, BookedCharge, BookedRefund, Difference
from payments.store.refund_attempts import Attempt

# What the posting of a charge put on our account at the gateway, whichever of the three kinds of posting it was.
_BOOKED_CHARGES: Final = """
SELECT c.id, c.identity, c.reference, c.gateway_id, c.order_id, c.amount_minor, c.currency, c.verdict, c.settled_at,
       o.status AS order_status, x.held_minor AS escrow_minor,
       (SELECT coalesce(sum(e.amount_minor), 0)::bigint FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.posting_key = ANY (ARRAY['charge:' || c.identity, 'overpayment:' || c.identity, 'quarantine:' || c.identity])
          AND (e.account = 'gateway_cash' OR e.account LIKE 'gateway\\_cash:%')) AS ledger_minor
FROM charges c LEFT JOIN payable_orders o ON o.id = c.order_id
LEFT JOIN escrows x ON x.order_id = c.order_id AND x.charge_id = c.id
"""
_CHARGES_TOLD: Final = f"{_BOOKED_CHARGES} WHERE c.identity = ANY ($1::text[])"
# A charge that was told without the gateway's id stands under its reference alone.
_CHARGES_WITHOUT_ID: Final = f"{_BOOKED_CHARGES} WHERE c.reference = ANY ($1::text[]) AND c.gateway_id IS NULL"
_CHARGES_SETTLED: Final = f"""
{_BOOKED_CHARGES} WHERE c.settled_at >= $1 AND c.settled_at < $2 AND (c.settled_at, c.id) > ($3, $4)
ORDER BY c.settled_at, c.id LIMIT $5
"""
_BOOKED_REFUNDS: Final = """
SELECT f.id, f.attempt_id, f.order_id, f.currency, f.status, f.settled_at, f.gateway_refund_id, f.recipient_code,
       c.reference, c.gateway_id,
       (SELECT coalesce(-sum(e.amount_minor), 0)::bigint
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.posting_key = 'refund_settled:' || f.attempt_id
          AND (e.account = 'gateway_cash' OR e.account LIKE 'gateway\\_cash:%')) AS ledger_minor
FROM refunds f JOIN charges c ON c.id = f.charge_id
"""
_REFUND_OF_ATTEMPT: Final = f"""
{_BOOKED_REFUNDS} WHERE f.id = coalesce((SELECT refund_id FROM failed_refund_attempts WHERE id = $1),
                                        (SELECT id FROM refunds WHERE attempt_id = $1))
"""
_REFUND_OF_GATEWAY: Final = f"{_BOOKED_REFUNDS} WHERE f.gateway_refund_id = $1"
_REFUND: Final = f"{_BOOKED_REFUNDS} WHERE f.id = $1"
_REFUNDS_SETTLED: Final = f"""
{_BOOKED_REFUNDS} WHERE f.status = 'settled' AND f.settled_at >= $1 AND f.settled_at < $2
  AND (f.settled_at, f.id) > ($3, $4) ORDER BY f.settled_at, f.id LIMIT $5
"""
_ORDER_HELD: Final = """
SELECT o.id, o.total_minor, o.currency, coalesce(sum(c.amount_minor), 0)::bigint AS covered_minor
FROM payable_orders o LEFT JOIN escrows x ON x.order_id = o.id
LEFT JOIN charges c ON c.id = x.charge_id AND c.verdict = 'covered'
WHERE o.status = 'paid_escrow' AND {0}
GROUP BY o.id, x.order_id, x.held_minor
HAVING x.order_id IS NULL OR x.held_minor <> o.total_minor OR coalesce(sum(c.amount_minor), 0) < o.total_minor
LIMIT 500
"""
_ORDERS_HELD: Final = _ORDER_HELD.format("o.heard_at >= $1 AND o.heard_at < $2")
_ONE_ORDER_HELD: Final = _ORDER_HELD.format("o.id = $1")

# The same difference that a person has closed with evidence is no news; one with other figures is.
_OPEN_CASE: Final = """
INSERT INTO reconciliation_cases (id, kind, subject, reference, order_id, ours_minor, theirs_minor, unexplained_minor, currency,
                                  detail, status, opened_at, seen_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'open', $11, $11
WHERE NOT EXISTS (
    SELECT FROM reconciliation_cases WHERE subject = $3 AND kind = $2 AND status = 'closed'
      AND (ours_minor, theirs_minor, currency) = ($6, $7, $9)
)
ON CONFLICT (subject, kind) WHERE status = 'open' DO UPDATE SET
    ours_minor = excluded.ours_minor, theirs_minor = excluded.theirs_minor, seen_at = excluded.seen_at,
    unexplained_minor = excluded.unexplained_minor, currency = excluded.currency, detail = excluded.detail
RETURNING (xmax = 0)
"""
_OPEN_CASES: Final = """
SELECT id, kind, subject, reference, order_id FROM reconciliation_cases WHERE status = 'open' ORDER BY seen_at, id LIMIT $1
"""
_SAVE_SEEN: Final = "UPDATE reconciliation_cases SET seen_at = $2 WHERE id = $1 AND status = 'open'"
_SAVE_EXPLAINED: Final = """
UPDATE reconciliation_cases SET status = 'explained', closed_at = $2 WHERE id = $1 AND status = 'open' RETURNING true
"""
_LOCK_CASE: Final = "SELECT id, status FROM reconciliation_cases WHERE id = $1 FOR UPDATE"
_SAVE_CLOSED: Final = """
UPDATE reconciliation_cases SET status = 'closed', closed_at = $2, closed_by = $3, evidence = $4 WHERE id = $1
"""
_CLAIM_UNTOLD: Final = """
UPDATE reconciliation_cases SET alerted_at = $1 WHERE id IN (
    SELECT id FROM reconciliation_cases WHERE status = 'open' AND alerted_at IS NULL
      AND (kind <> ALL ($2::text[]) OR opened_at <= $3) ORDER BY opened_at FOR UPDATE SKIP LOCKED LIMIT 500
) RETURNING id, kind, subject, unexplained_minor, currency
"""
_UNEXPLAINED: Final = """
SELECT count(*) AS cases, coalesce(sum(unexplained_minor), 0)::bigint AS minor FROM reconciliation_cases WHERE status = 'open'
"""
_CLAIM_RUN: Final = """
UPDATE reconciliation_runs SET due_at = $2 WHERE due_at IS NULL OR due_at <= $1 RETURNING true
"""
_SAVE_NEXT_RUN: Final = "UPDATE reconciliation_runs SET due_at = $1"

PIECE: Final = 200


async def find_booked_charges(
    uow: UnitOfWork, identities: Sequence[str], references: Sequence[str]
) -> dict[str, BookedCharge]:
    """The charges with these identities, or with one of these references and no id of the gateway's, by identity."""
    rows = await uow.fetch(_CHARGES_TOLD, identities) + await uow.fetch(_CHARGES_WITHOUT_ID, references)
    return {row["identity"]: booked_charge(row) for row in rows}


async def list_settled_charges(
    uow: UnitOfWork, begin: datetime, end: datetime, behind: tuple[datetime, UUID] | None
) -> list[asyncpg.Record]:
    return await uow.fetch(_CHARGES_SETTLED, begin, end, *(behind or (begin, UUID(int=0))), PIECE)


async def list_settled_refunds(
    uow: UnitOfWork, begin: datetime, end: datetime, behind: tuple[datetime, UUID] | None
) -> list[asyncpg.Record]:
    return await uow.fetch(_REFUNDS_SETTLED, begin, end, *(behind or (begin, UUID(int=0))), PIECE)


async def find_booked_refund(
    uow: UnitOfWork, attempt_id: UUID | None, gateway_refund_id: str | None
) -> BookedRefund | None:
    """By the attempt that our note names, else by the gateway's id."""
    row = None if attempt_id is None else await uow.fetch_row(_REFUND_OF_ATTEMPT, attempt_id)
    if row is None and gateway_refund_id is not None:
        row = await uow.fetch_row(_REFUND_OF_GATEWAY, gateway_refund_id)
    return None if row is None else booked_refund(row)


async def find_refund_row(uow: UnitOfWork, refund_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_REFUND, refund_id)


async def list_orders_held_without_charge(uow: UnitOfWork, begin: datetime, end: datetime) -> list[asyncpg.Record]:
    return await uow.fetch(_ORDERS_HELD, begin, end)


async def find_order_held_without_charge(uow: UnitOfWork, order_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_ONE_ORDER_HELD, order_id)


def booked_charge(row: asyncpg.Record) -> BookedCharge:
    return BookedCharge(
        row["identity"],
        row["reference"],
        row["gateway_id"],
        row["order_id"],
        row["amount_minor"],
        row["currency"],
        row["verdict"],
        row["ledger_minor"],
        row["escrow_minor"],
        row["order_status"],
    )


def booked_refund(row: asyncpg.Record) -> BookedRefund:
    return BookedRefund(
        row["id"],
        row["attempt_id"],
        row["order_id"],
        row["currency"],
        row["status"],
        row["ledger_minor"],
        row["gateway_refund_id"],
    )


def attempt_of(row: asyncpg.Record) -> Attempt:
    return Attempt.of(row)


async def open_case_if_new(uow: UnitOfWork, found: Difference, now: datetime) -> bool:
    """Whether the case is new. One that is open shows the latest figures; one closed with evidence for the same stays closed."""
    values: tuple[Any, ...] = (
        new_id(),
        found.kind,
        found.subject,
        found.reference,
        found.order_id,
        found.ours_minor,
        found.theirs_minor,
        found.unexplained_minor,
        found.currency,
        found.detail,
        now,
    )
    return bool(await uow.fetch_value(_OPEN_CASE, *values))


async def list_open_cases(uow: UnitOfWork, limit: int) -> list[asyncpg.Record]:
    """Those that nobody looked at for the longest time first."""
    return await uow.fetch(_OPEN_CASES, limit)


async def save_case_seen(uow: UnitOfWork, case_id: UUID, now: datetime) -> None:
    await uow.execute(_SAVE_SEEN, case_id, now)


async def save_case_explained(uow: UnitOfWork, case_id: UUID, now: datetime) -> bool:
    return bool(await uow.fetch_value(_SAVE_EXPLAINED, case_id, now))


async def lock_case(uow: UnitOfWork, case_id: UUID) -> asyncpg.Record | None:
    return await uow.fetch_row(_LOCK_CASE, case_id)


async def save_case_closed(uow: UnitOfWork, case_id: UUID, now: datetime, by: UUID, evidence: str) -> None:
    await uow.execute(_SAVE_CLOSED, case_id, now, by, evidence)


async def claim_untold_cases(uow: UnitOfWork, now: datetime, healing_since: datetime) -> list[asyncpg.Record]:
    """The open cases that people have not been told of, now marked as told; those that heal themselves get time until then."""
    return await uow.fetch(_CLAIM_UNTOLD, now, sorted(HEALING), healing_since)


async def sum_unexplained(uow: UnitOfWork) -> tuple[int, int]:
    """How many cases are open, and their kobo."""
    row = await uow.fetch_row(_UNEXPLAINED)
    return (0, 0) if row is None else (row["cases"], row["minor"])


async def claim_run(uow: UnitOfWork, now: datetime, again_at: datetime) -> bool:
    """Whether the daily run is due; then it is nobody else's until `again_at`."""
    return bool(await uow.fetch_value(_CLAIM_RUN, now, again_at))


async def save_next_run(uow: UnitOfWork, due_at: datetime) -> None:
    await uow.execute(_SAVE_NEXT_RUN, due_at)
