"""SQL for the comparison with the gateway's list of transfers. No decision is made here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.found_transfers import Candidate, ListedTransfer, Outcome
from providers.gateways import GatewayName

# The server's identifier and timeline. A restore starts a new timeline; another server has another identifier.
_TIMELINE: Final = (
    "(SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system())"
)
IS_COMPARED: Final = f"SELECT place = {_TIMELINE} FROM transfer_comparison"
_READ_COMPARISON: Final = f"""
SELECT {_TIMELINE} AS place, place = {_TIMELINE} AS is_compared, compared_until, now() AS now FROM transfer_comparison
"""
# After a restore it is due at once, whatever was planned, and soon again until it is complete.
_CLAIM: Final = f"""
UPDATE transfer_comparison SET due_at = CASE WHEN place = {_TIMELINE} THEN $2 ELSE $3 END::timestamptz
WHERE due_at IS NULL OR due_at <= $1 OR (place <> {_TIMELINE} AND due_at > $3) RETURNING true
"""
_SAVE_COMPARED: Final = "UPDATE transfer_comparison SET place = $1, compared_until = $2, due_at = $3"
# One process at a time records found transfers.
_LOCK_COMPARISON: Final = "SELECT FROM transfer_comparison FOR UPDATE"
_LIST_KNOWN: Final = """
SELECT reference FROM payout_transfers WHERE reference = ANY ($1::text[])
UNION SELECT reference FROM found_transfers WHERE reference = ANY ($1::text[]) AND outcome = 'explained'
"""
_IS_KNOWN: Final = "SELECT EXISTS (SELECT FROM payout_transfers WHERE reference = $1)"
_LIST_OWNERS: Final = """
SELECT DISTINCT ON (vendor_id) vendor_id, id FROM bank_detail_versions
WHERE account_fingerprint = $1 OR (account_number = $2 AND bank_code = $3) ORDER BY vendor_id, changed_at DESC, id DESC
"""
_LIST_CANDIDATES: Final = """
SELECT p.id, p.retry_count, coalesce(array_agg(t.reference ORDER BY t.attempt) FILTER (WHERE t.id IS NOT NULL),
       '{}') AS refs, coalesce(array_agg(t.gateway ORDER BY t.attempt) FILTER (WHERE t.id IS NOT NULL),
       '{}') AS gateways, coalesce(bool_or(t.attempt = p.retry_count + 1), false) AS has_present_attempt
FROM payout_requests AS p LEFT JOIN payout_transfers AS t ON t.payout_id = p.id
WHERE p.vendor_id = $1 AND p.amount = $2 AND p.currency = 'NGN' AND p.status = 'pending'
GROUP BY p.id ORDER BY count(t.id), p.created_at, p.id
"""
_LOCK_CANDIDATE: Final = """
SELECT retry_count = $2 AND status = 'pending'
       AND EXISTS (SELECT FROM payout_transfers WHERE payout_id = $1 AND attempt = $2 + 1) = $3
FROM payout_requests WHERE id = $1 FOR UPDATE
"""
_NAME_REFERENCE: Final = """
UPDATE payout_requests SET retry_count = $2, transfer_reference = $3, transfer_code = NULL, updated_at = $4
WHERE id = $1
"""
# `unknown`: the gateway is queried, and its report has all its consequences.
_SAVE_ATTEMPT: Final = """
INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency,
                              bank_details_version_id, submissions, due_at, created_at, updated_at, gateway)
SELECT $2, id, vendor_id, retry_count + 1, transfer_reference, 'unknown', amount, currency, bank_details_version_id, 1,
    $3, $3, $3, $4
FROM payout_requests WHERE id = $1
"""
_READ_OWNER: Final = "SELECT owner_user_id FROM vendors WHERE id = $1"
_SAVE_FOUND: Final = """
INSERT INTO found_transfers AS f (reference, transfer_code, status, amount, currency, account_last4, bank_code,
                                  created_at, found_at, outcome, payout_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (reference) DO UPDATE SET status = excluded.status, outcome = excluded.outcome,
    payout_id = excluded.payout_id
WHERE f.outcome = 'open'
"""
_COUNT_OPEN: Final = "SELECT count(*) FROM found_transfers WHERE outcome = 'open'"
_COUNT_UNSETTLED: Final = """
SELECT count(*) FROM found_transfers AS f JOIN payout_transfers AS t USING (reference) WHERE t.status = 'unknown'
"""
_LIST_OPEN: Final = """
SELECT reference, amount, currency, account_last4, bank_code, created_at FROM found_transfers WHERE outcome = 'open'
ORDER BY created_at, reference LIMIT 500
"""
_EXPLAIN: Final = """
UPDATE found_transfers SET outcome = 'explained', evidence = $2 WHERE reference = $1 AND outcome = 'open'
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far the gateway's list was compared, and whether that was on the present timeline."""

    timeline: str
    is_compared: bool
    compared_until: datetime
    now: datetime


class AccountOwner(NamedTuple):
    """A vendor who had an account, and the newest version of the details that names it."""

    vendor_id: UUID
    version_id: UUID


class OpenTransfer(NamedTuple):
    """A found transfer without a payout; of its account the last four digits."""

    reference: str
    amount_minor: int
    currency: str
    account_last4: str
    bank_code: str
    created_at: datetime


async def transfers_are_compared(uow: UnitOfWork) -> bool:
    """Return whether the comparison is complete. False from a restore of the database until all transfers since are
    recorded.
    """
    return bool(await uow.fetch_value(IS_COMPARED))


async def read_comparison(uow: UnitOfWork) -> Comparison:
    row = await uow.fetch_row(_READ_COMPARISON)
    if row is None:
        raise AssertionError("the migration wrote the one row")
    return Comparison(*row)


async def claim_comparison(uow: UnitOfWork, now: datetime, again_at: datetime, recheck_at: datetime) -> bool:
    """Claims a due comparison until `again_at`; after a restore until `recheck_at`. False when none is due."""
    return bool(await uow.fetch_value(_CLAIM, now, again_at, recheck_at))


async def save_compared(uow: UnitOfWork, timeline: str, until: datetime, due_at: datetime) -> None:
    await uow.execute(_SAVE_COMPARED, timeline, until, due_at)


async def lock_comparison(uow: UnitOfWork) -> None:
    """Locks the comparison until the end of the unit of work."""
    await uow.execute(_LOCK_COMPARISON)


async def list_known_references(uow: UnitOfWork, references: Sequence[str]) -> set[str]:
    """Return those that are recorded, and those that staff have explained."""
    return {row["reference"] for row in await uow.fetch(_LIST_KNOWN, references)}


async def is_known(uow: UnitOfWork, reference: str) -> bool:
    return bool(await uow.fetch_value(_IS_KNOWN, reference))


async def list_owners(uow: UnitOfWork, fingerprint: str, account_number: str, bank_code: str) -> list[AccountOwner]:
    """Return each vendor who ever had this account."""
    rows = await uow.fetch(_LIST_OWNERS, fingerprint, account_number, bank_code)
    return [AccountOwner(*row) for row in rows]


async def list_candidates(uow: UnitOfWork, vendor_id: UUID, amount_minor: int) -> list[Candidate]:
    """Return pending payouts of the vendor with this amount: those never sent first, oldest first."""
    return [
        Candidate(
            row["id"],
            row["retry_count"],
            tuple(zip(row["refs"], row["gateways"], strict=True)),
            row["has_present_attempt"],
        )
        for row in await uow.fetch(_LIST_CANDIDATES, vendor_id, amount_minor)
    ]


async def lock_candidate(uow: UnitOfWork, candidate: Candidate) -> bool:
    """Locks the payout; False when it has changed."""
    values = (candidate.payout_id, candidate.retry_count, candidate.has_present_attempt)
    return bool(await uow.fetch_value(_LOCK_CANDIDATE, *values))


async def save_found_attempt(
    uow: UnitOfWork,
    payout_id: UUID,
    retry_count: int,
    transfer_id: UUID,
    reference: str,
    at: datetime,
    gateway: GatewayName,
) -> None:
    """Record the found transfer as the payout's present attempt, to be queried at the gateway."""
    await uow.execute(_NAME_REFERENCE, payout_id, retry_count, reference, at)
    await uow.execute(_SAVE_ATTEMPT, payout_id, transfer_id, at, gateway)


async def find_owner(uow: UnitOfWork, vendor_id: UUID) -> UUID | None:
    """Return the vendor's owner, if the vendor was received."""
    owner: UUID | None = await uow.fetch_value(_READ_OWNER, vendor_id)
    return owner


async def save_found(
    uow: UnitOfWork, transfer: ListedTransfer, outcome: Outcome, payout_id: UUID | None, at: datetime
) -> None:
    """Record a listed transfer that the ledger did not have; of the account only the last four digits."""
    await uow.execute(
        _SAVE_FOUND,
        transfer.reference,
        transfer.transfer_code,
        transfer.status,
        transfer.amount_minor,
        transfer.currency,
        transfer.account_number[-4:],
        transfer.bank_code,
        transfer.created_at,
        at,
        outcome,
        payout_id,
    )


async def count_open(uow: UnitOfWork) -> int:
    """Count found transfers that only staff can assign."""
    count: int = await uow.fetch_value(_COUNT_OPEN)
    return count


async def count_unsettled(uow: UnitOfWork) -> int:
    """Count recorded found transfers whose outcome the gateway has not reported."""
    count: int = await uow.fetch_value(_COUNT_UNSETTLED)
    return count


async def list_open(uow: UnitOfWork) -> list[OpenTransfer]:
    """Return the found transfers that only staff can assign, oldest first."""
    return [OpenTransfer(*row) for row in await uow.fetch(_LIST_OPEN)]


async def save_explained(uow: UnitOfWork, reference: str, evidence: str) -> bool:
    """Record the explanation; False when no such transfer is open."""
    return await uow.execute(_EXPLAIN, reference, evidence) == 1
