"""SQL for the reconciliation: recorded charges, refunds and orders, and the cases of unexplained differences."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.domain.reconciliation import (
    SELF_RESOLVING,
    Difference,
    RecordedCharge,
    RecordedRefund,
    held_without_charge,
)
from payments.domain.settlements import RecordedSettlement, settlement_key
from payments.domain.transitions import CASE, CaseStatus
from payments.store.refund_attempts import RefundAttempt
from providers.gateways import GatewayName

BATCH_SIZE: Final = 200


class SettledPosition(NamedTuple):
    """The last row of a batch: the next one starts after it."""

    settled_at: datetime
    id: UUID


class RecordedAttempt(NamedTuple):
    """A refund with its current attempt."""

    refund: RecordedRefund
    attempt: RefundAttempt


class OpenCase(NamedTuple):
    """An open reconciliation case."""

    id: UUID
    kind: str
    subject: str
    reference: str | None
    theirs_minor: int
    currency: str
    gateway: GatewayName


class UnalertedCase(NamedTuple):
    """An open case that no alert has named yet; the difference in minor units."""

    id: UUID
    kind: str
    subject: str
    unexplained_minor: int


# `ledger_minor` is the amount that the charge's posting debited to `gateway_cash`. Three types of posting record a
# charge.
_BOOKED_CHARGES: Final = """
SELECT c.settled_at, c.id, c.identity, c.reference, c.gateway_id, c.order_id, c.amount_minor, c.currency, c.verdict,
       (SELECT coalesce(sum(e.amount_minor), 0)::bigint FROM ledger_transactions t
           JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.posting_key = ANY (ARRAY['charge:' || c.identity, 'overpayment:' || c.identity,
            'quarantine:' || c.identity])
          AND (e.account = 'gateway_cash' OR e.account LIKE 'gateway\\_cash:%')) AS ledger_minor,
       (SELECT coalesce(sum(e.amount_minor), 0)::bigint FROM ledger_transactions t
           JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.posting_key = 'gateway_fee:' || c.identity AND e.amount_minor > 0) AS fee_minor,
       (SELECT sum(x.held_minor)::bigint FROM escrows x WHERE x.charge_id = c.id) AS escrow_minor,
       o.status AS order_status
FROM charges c LEFT JOIN payable_orders o ON o.id = c.order_id
"""
_CHARGES_REPORTED: Final = f"{_BOOKED_CHARGES} WHERE c.identity = ANY ($1::text[])"
# A charge that was reported without the gateway's id is identified by its reference alone.
_CHARGES_WITHOUT_ID: Final = f"{_BOOKED_CHARGES} WHERE c.reference = ANY ($1::text[]) AND c.gateway_id IS NULL"
_CHARGES_SETTLED: Final = f"""
{_BOOKED_CHARGES} WHERE c.settled_at >= $1 AND c.settled_at < $2 AND (c.settled_at, c.id) > ($3, $4) AND c.gateway = $6
ORDER BY c.settled_at, c.id LIMIT $5
"""
_BOOKED_REFUNDS: Final = """
SELECT f.settled_at, f.id, f.attempt_id, f.order_id, f.currency, f.status,
       (SELECT coalesce(-sum(e.amount_minor), 0)::bigint
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.posting_key = 'refund_settled:' || f.attempt_id
          AND (e.account = 'gateway_cash' OR e.account LIKE 'gateway\\_cash:%')) AS ledger_minor,
       f.gateway_refund_id, f.recipient_code, c.reference, c.gateway_id, c.gateway
FROM refunds f JOIN charges c ON c.id = f.charge_id
"""
_REFUND_OF_ATTEMPT: Final = f"""
{_BOOKED_REFUNDS} WHERE f.id = coalesce((SELECT refund_id FROM failed_refund_attempts WHERE id = $1),
                                        (SELECT id FROM refunds WHERE attempt_id = $1))
"""
_REFUND_OF_GATEWAY: Final = f"{_BOOKED_REFUNDS} WHERE f.gateway_refund_id = $1"
_REFUND: Final = f"{_BOOKED_REFUNDS} WHERE f.id = $1"
_REFUNDS_SETTLED: Final = f"""
{_BOOKED_REFUNDS} WHERE f.status = 'settled' AND f.amount_minor > 0 AND f.settled_at >= $1 AND f.settled_at < $2
  AND (f.settled_at, f.id) > ($3, $4) AND c.gateway = $6 ORDER BY f.settled_at, f.id LIMIT $5
"""
_ORDER_HELD: Final = """
SELECT o.id, o.total_minor, coalesce(sum(c.amount_minor), 0)::bigint AS covered_minor, o.currency
FROM payable_orders o LEFT JOIN escrows x ON x.order_id = o.id
LEFT JOIN charges c ON c.id = x.charge_id AND c.verdict = 'covered'
WHERE o.status = 'paid_escrow' AND {0}
GROUP BY o.id, x.order_id, x.held_minor, x.charge_id
HAVING x.order_id IS NULL OR x.held_minor <> o.total_minor OR coalesce(sum(c.amount_minor), 0) < (
    SELECT sum(one.held_minor - one.balance_minor) FROM escrows one WHERE one.charge_id = x.charge_id
)
LIMIT 500
"""
_ORDERS_HELD: Final = _ORDER_HELD.format("o.heard_at >= $1 AND o.heard_at < $2")
_ONE_ORDER_HELD: Final = _ORDER_HELD.format("o.id = $1")
_SETTLEMENT: Final = """
SELECT e.amount_minor, e.currency FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
WHERE t.posting_key = $1 AND e.amount_minor > 0
"""
_SETTLED: Final = """
SELECT coalesce(sum(e.amount_minor), 0)::bigint FROM ledger_transactions t
JOIN ledger_entries e ON e.transaction_id = t.id
WHERE t.type = 'settlement' AND t.created_at >= $1 AND t.created_at <= $2 AND e.account = 'bank_account'
"""
_CHARGE_REFERENCES: Final = "SELECT DISTINCT reference FROM charges WHERE reference = ANY ($1::text[])"

# A difference that staff closed with evidence opens no case again; one with other figures does.
_OPEN_CASE: Final = """
INSERT INTO reconciliation_cases (id, kind, subject, reference, order_id, ours_minor, theirs_minor, unexplained_minor,
                                  currency, detail, status, opened_at, seen_at, gateway)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'open', $11, $11, $12
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
SELECT id, kind, subject, reference, theirs_minor, currency, gateway FROM reconciliation_cases
WHERE status = 'open' ORDER BY seen_at, id LIMIT $1
"""
_SAVE_SEEN: Final = "UPDATE reconciliation_cases SET seen_at = $2 WHERE id = $1 AND status = 'open'"
_SAVE_EXPLAINED: Final = f"""
UPDATE reconciliation_cases SET status = 'explained', closed_at = $2
WHERE id = $1 AND status IN {states_before(CASE, "explained")} RETURNING true
"""
_LOCK_CASE: Final = "SELECT status FROM reconciliation_cases WHERE id = $1 FOR UPDATE"
_SAVE_CLOSED: Final = """
UPDATE reconciliation_cases SET status = 'closed', closed_at = $2, closed_by = $3, evidence = $4
WHERE id = $1 AND status = 'open'
"""
_CLAIM_UNALERTED: Final = """
UPDATE reconciliation_cases SET alerted_at = $1 WHERE id IN (
    SELECT id FROM reconciliation_cases WHERE status = 'open' AND alerted_at IS NULL
      AND (kind <> ALL ($2::text[]) OR opened_at <= $3) ORDER BY opened_at FOR UPDATE SKIP LOCKED LIMIT 500
) RETURNING id, kind, subject, unexplained_minor
"""
_UNEXPLAINED: Final = """
SELECT count(*) AS cases, coalesce(sum(unexplained_minor), 0)::bigint AS minor FROM reconciliation_cases
WHERE status = 'open'
"""
_CLAIM_RUN: Final = """
UPDATE reconciliation_runs SET due_at = $2 WHERE due_at IS NULL OR due_at <= $1 RETURNING true
"""
_SAVE_NEXT_RUN: Final = "UPDATE reconciliation_runs SET due_at = $1"


async def find_recorded_charges(
    uow: UnitOfWork, identities: Sequence[str], references: Sequence[str]
) -> dict[str, RecordedCharge]:
    """Return the charges by identity that have one of the identities, or one of the references and no gateway id."""
    rows = await uow.fetch(_CHARGES_REPORTED, identities) + await uow.fetch(_CHARGES_WITHOUT_ID, references)
    return {row["identity"]: RecordedCharge(*row[2:]) for row in rows}


async def list_settled_charges(
    uow: UnitOfWork, gateway: GatewayName, start: datetime, end: datetime, after: SettledPosition | None
) -> tuple[list[RecordedCharge], SettledPosition | None]:
    """Return the next charges of a gateway's period, and the position after them; None at the end."""
    rows = await uow.fetch(_CHARGES_SETTLED, start, end, *(after or (start, UUID(int=0))), BATCH_SIZE, gateway)
    return [RecordedCharge(*row[2:]) for row in rows], _position(rows)


async def list_settled_refunds(
    uow: UnitOfWork, gateway: GatewayName, start: datetime, end: datetime, after: SettledPosition | None
) -> tuple[list[RecordedAttempt], SettledPosition | None]:
    """Return the next refunds of a gateway's period, and the position after them; None at the end."""
    rows = await uow.fetch(_REFUNDS_SETTLED, start, end, *(after or (start, UUID(int=0))), BATCH_SIZE, gateway)
    return [_recorded_attempt(row) for row in rows], _position(rows)


async def find_recorded_refund(
    uow: UnitOfWork, attempt_id: UUID | None, gateway_refund_id: str | None
) -> RecordedRefund | None:
    """By our attempt, else by the gateway's id."""
    row = None if attempt_id is None else await uow.fetch_row(_REFUND_OF_ATTEMPT, attempt_id)
    if row is None and gateway_refund_id is not None:
        row = await uow.fetch_row(_REFUND_OF_GATEWAY, gateway_refund_id)
    return None if row is None else _recorded_attempt(row).refund


async def find_recorded_attempt(uow: UnitOfWork, refund_id: UUID) -> RecordedAttempt | None:
    row = await uow.fetch_row(_REFUND, refund_id)
    return None if row is None else _recorded_attempt(row)


async def list_orders_held_without_charge(uow: UnitOfWork, start: datetime, end: datetime) -> list[Difference]:
    return [held_without_charge(*row) for row in await uow.fetch(_ORDERS_HELD, start, end)]


async def find_order_held_without_charge(uow: UnitOfWork, order_id: UUID) -> Difference | None:
    row = await uow.fetch_row(_ONE_ORDER_HELD, order_id)
    return None if row is None else held_without_charge(*row)


async def find_recorded_settlement(uow: UnitOfWork, settlement_id: str) -> RecordedSettlement | None:
    row = await uow.fetch_row(_SETTLEMENT, settlement_key(settlement_id))
    return None if row is None else RecordedSettlement(settlement_id, row["amount_minor"], row["currency"])


async def sum_settled(uow: UnitOfWork, start: datetime, end: datetime) -> int:
    """Return the kobo that settlements moved to our bank, by the time of their posting."""
    settled: int = await uow.fetch_value(_SETTLED, start, end)
    return settled


async def list_known_references(uow: UnitOfWork, references: Sequence[str]) -> list[str]:
    """Those of the references that have a recorded charge."""
    return [row["reference"] for row in await uow.fetch(_CHARGE_REFERENCES, references)]


async def open_case_if_new(uow: UnitOfWork, found: Difference, now: datetime, gateway: GatewayName) -> bool:
    """Return whether the case is new. An open one gets the latest figures; one closed with evidence for the same stays
    closed.
    """
    return bool(
        await uow.fetch_value(
            _OPEN_CASE,
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
            gateway,
        )
    )


async def list_open_cases(uow: UnitOfWork, limit: int) -> list[OpenCase]:
    """Return the open cases, the least recently checked first."""
    return [OpenCase(*row) for row in await uow.fetch(_OPEN_CASES, limit)]


async def save_case_seen(uow: UnitOfWork, case_id: UUID, now: datetime) -> None:
    await uow.execute(_SAVE_SEEN, case_id, now)


async def save_case_explained(uow: UnitOfWork, case_id: UUID, now: datetime) -> bool:
    return bool(await uow.fetch_value(_SAVE_EXPLAINED, case_id, now))


async def lock_case_status(uow: UnitOfWork, case_id: UUID) -> CaseStatus | None:
    status: CaseStatus | None = await uow.fetch_value(_LOCK_CASE, case_id)
    return status


async def save_case_closed(uow: UnitOfWork, case_id: UUID, now: datetime, by: UUID, evidence: str) -> None:
    await change_state(uow, _SAVE_CLOSED, case_id, now, by, evidence)


async def claim_unalerted_cases(uow: UnitOfWork, now: datetime, opened_before: datetime) -> list[UnalertedCase]:
    """Mark and return the open cases without an alert; those that may resolve themselves only when opened before."""
    rows = await uow.fetch(_CLAIM_UNALERTED, now, sorted(SELF_RESOLVING), opened_before)
    return [UnalertedCase(*row) for row in rows]


async def sum_unexplained(uow: UnitOfWork) -> tuple[int, int]:
    """Return the number of open cases, and the sum of their differences in minor units."""
    row = await uow.fetch_row(_UNEXPLAINED)
    return (0, 0) if row is None else (row["cases"], row["minor"])


async def claim_run(uow: UnitOfWork, now: datetime, again_at: datetime) -> bool:
    """Return whether the daily run is due. Its lease ends at `again_at`."""
    return bool(await uow.fetch_value(_CLAIM_RUN, now, again_at))


async def save_next_run(uow: UnitOfWork, due_at: datetime) -> None:
    await uow.execute(_SAVE_NEXT_RUN, due_at)


def _recorded_attempt(row: asyncpg.Record) -> RecordedAttempt:
    refund_id, attempt_id, order_id, currency, status, ledger_minor, gateway_refund_id, *charge = row[1:]
    refund = RecordedRefund(refund_id, attempt_id, order_id, currency, status, ledger_minor, gateway_refund_id)
    return RecordedAttempt(refund, RefundAttempt(attempt_id, gateway_refund_id, *charge))


def _position(rows: Sequence[asyncpg.Record]) -> SettledPosition | None:
    return SettledPosition(*rows[-1][:2]) if len(rows) == BATCH_SIZE else None
