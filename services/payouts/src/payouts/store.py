"""SQL for writes. Every function runs in the unit of work of its caller; nothing here decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id
from payouts.domain.bank_accounts import Judged
from payouts.domain.dispatch import LEASE, Candidate, PlanLine
from payouts.domain.gateway_answers import Recipient
from payouts.domain.severity import Cause, Severity, Trouble
from payouts.domain.transfer_news import News, TransferInHand, Verdict
from payouts.domain.wallet import Line, Standing, with_balances

# --- What other services said ---

_SAVE_VENDOR: Final = """
INSERT INTO vendors AS v (id, owner_user_id, legal_name, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET owner_user_id = excluded.owner_user_id, legal_name = excluded.legal_name, sequence = excluded.sequence
WHERE v.sequence < excluded.sequence
"""
_SAVE_ORDER_SHARE: Final = """
INSERT INTO order_shares AS s (order_id, vendor_id, remaining_vendor_minor, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (order_id) DO UPDATE SET remaining_vendor_minor = excluded.remaining_vendor_minor, sequence = excluded.sequence
WHERE s.sequence < excluded.sequence
"""


async def save_vendor(uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, legal_name: str, sequence: int) -> bool:
    """False when later news of the vendor was heard before."""
    return await uow.execute(_SAVE_VENDOR, vendor_id, owner_user_id, legal_name, sequence) == 1


async def save_order_share(
    uow: UnitOfWork, order_id: UUID, vendor_id: UUID, remaining_vendor_minor: int, sequence: int
) -> bool:
    """The vendor's share of what is still in escrow; False when later news of the order was heard before."""
    return await uow.execute(_SAVE_ORDER_SHARE, order_id, vendor_id, remaining_vendor_minor, sequence) == 1


# --- Wallets ---

# `DO UPDATE` to the same value takes the row's lock and makes the row in one round trip.
_LOCK_WALLET: Final = """
INSERT INTO wallets (vendor_id) VALUES ($1) ON CONFLICT (vendor_id) DO UPDATE SET vendor_id = excluded.vendor_id
"""
_READ_STANDING: Final = """
SELECT
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'wallet:' || $1::uuid), 0) AS available_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'vendor_debt:' || $1::uuid), 0) AS debt_minor,
    (SELECT coalesce(sum(remaining_vendor_minor), 0)::bigint FROM order_shares
     WHERE vendor_id = $1 AND remaining_vendor_minor > 0) AS locked_minor,
    d.version_id, coalesce(d.verified, false) AS verified
FROM (VALUES (1)) AS one LEFT JOIN vendor_bank_details AS d ON d.vendor_id = $1
"""
_FIND_LINE_NET: Final = "SELECT net_minor FROM wallet_lines WHERE source_key = $1 AND kind = $2"
_APPEND_LINE: Final = """
INSERT INTO wallet_lines (id, vendor_id, kind, source_key, order_id, payout_id, gross_minor, commission_minor, delivery_fee_minor,
                          net_minor, balance_minor, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""


async def lock_wallet(uow: UnitOfWork, vendor_id: UUID) -> Standing:
    """Holds the vendor's wallet until the end of the unit of work, and reads it under the lock."""
    await uow.execute(_LOCK_WALLET, vendor_id)
    row = await uow.fetch_row(_READ_STANDING, vendor_id)
    if row is None:
        raise AssertionError("the statement always gives a row")
    return Standing(row["available_minor"], row["debt_minor"], row["locked_minor"], row["version_id"], row["verified"])


async def find_line_net(uow: UnitOfWork, source_key: str, kind: str) -> int | None:
    """What an earlier delivery of the same news did to the wallet, in kobo; None for the first."""
    net_minor: int | None = await uow.fetch_value(_FIND_LINE_NET, source_key, kind)
    return net_minor


async def append_lines(
    uow: UnitOfWork, vendor_id: UUID, source_key: str, available_minor: int, lines: list[Line], at: datetime
) -> None:
    """Writes statement lines with their running balance. The wallet must be locked."""
    rows = [
        (
            new_id(),
            vendor_id,
            line.kind,
            source_key,
            line.order_id,
            line.payout_id,
            line.gross_minor,
            line.commission_minor,
            line.delivery_fee_minor,
            line.net_minor,
            balance_minor,
            at,
        )
        for line, balance_minor in with_balances(available_minor, lines)
    ]
    await uow.execute_many(_APPEND_LINE, rows)


# --- Bank details ---

_SAVE_VERSION: Final = """
INSERT INTO bank_detail_versions (id, vendor_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid,
                                  changed_by, changed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
_SAVE_BANK_DETAILS: Final = """
INSERT INTO vendor_bank_details (vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason,
                                 check_digit_valid, quarantine_reason, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, $10)
ON CONFLICT (vendor_id) DO UPDATE SET version_id = $2, account_number = $3, last4 = $4, bank_code = $5, account_name = $6,
    verified = $7, reason = $8, check_digit_valid = $9, quarantine_reason = NULL, updated_at = $10
"""

_LOCK_BANK_DETAILS: Final = """
SELECT account_number, bank_code, account_name, verified, reason, check_digit_valid FROM vendor_bank_details
WHERE vendor_id = $1 FOR UPDATE
"""


@dataclass(frozen=True, slots=True)
class BankDetails:
    """A vendor's account as it was resolved and judged."""

    vendor_id: UUID
    account_number: str
    bank_code: str
    account_name: str | None
    judged: Judged
    check_digit_valid: bool | None

    @property
    def last4(self) -> str:
        return self.account_number[-4:]


async def save_bank_details(
    uow: UnitOfWork, version_id: UUID, details: BankDetails, changed_by: UUID, at: datetime
) -> None:
    """Appends to the history and makes it the present one."""
    judged = details.judged
    shared = (details.account_number, details.last4, details.bank_code, details.account_name)
    verdict = (judged.verified, judged.reason, details.check_digit_valid)
    await uow.execute(_SAVE_VERSION, version_id, details.vendor_id, *shared, *verdict, changed_by, at)
    await uow.execute(_SAVE_BANK_DETAILS, details.vendor_id, version_id, *shared, *verdict, at)


async def lock_bank_details(uow: UnitOfWork, vendor_id: UUID) -> BankDetails | None:
    """The present details with their account number: for the service itself only, the API role may not read it."""
    row = await uow.fetch_row(_LOCK_BANK_DETAILS, vendor_id)
    if row is None:
        return None
    judged = Judged(row["verified"], row["reason"])
    account = (row["account_number"], row["bank_code"], row["account_name"])
    return BankDetails(vendor_id, *account, judged, row["check_digit_valid"])


# --- Payouts and batches ---

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
       coalesce(d.verified AND d.account_number = v.account_number AND d.bank_code = v.bank_code, false) AS details_stand
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
    return [Candidate(row["id"], row["amount"], row["pending"], row["attempted"], row["details_stand"]) for row in rows]


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


# --- Transfers ---

_BEGIN_SUBMISSION: Final = """
WITH taken AS (
    UPDATE payout_transfers SET status = 'submitting', submissions = submissions + 1, due_at = $3, updated_at = $4
    WHERE id = $1 AND status = $2
    RETURNING reference, amount, currency, bank_details_version_id, vendor_id
)
SELECT t.reference, t.amount, t.currency, v.account_number, v.bank_code, v.account_name,
       coalesce(d.verified AND d.account_number = v.account_number AND d.bank_code = v.bank_code, false) AS details_stand
FROM taken AS t
JOIN bank_detail_versions AS v ON v.id = t.bank_details_version_id
LEFT JOIN vendor_bank_details AS d ON d.vendor_id = t.vendor_id
"""
# Payout before transfer, everywhere: two that need both never wait for each other in a circle.
_LOCK_TRANSFER: Final = """
SELECT t.id, t.payout_id, t.vendor_id, t.batch_id, t.reference, t.status, t.amount, t.currency, t.asks, p.status AS payout_status
FROM payout_requests AS p JOIN payout_transfers AS t ON t.payout_id = p.id
WHERE {} FOR UPDATE OF p, t
"""
_LOCK_BY_REFERENCE: Final = _LOCK_TRANSFER.format("t.reference = $1")
_LOCK_BY_ID: Final = _LOCK_TRANSFER.format("t.id = $1")
# Read after the lock is held: a subquery of the locking statement would still see what was there before it waited.
_READ_STANDING_OF_TRANSFER: Final = """
SELECT status FROM transfer_observations WHERE transfer_id = $1 AND verdict IN ('advanced', 'confirmed')
ORDER BY position DESC LIMIT 1
"""
_RECORD_OBSERVATION: Final = """
INSERT INTO transfer_observations (id, transfer_id, heard_from, status, verdict, amount, currency, transfer_code, reason,
                                   gateway_event_id, observed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
_SAVE_STATUS: Final = """
UPDATE payout_transfers SET status = $2, transfer_code = coalesce($3, transfer_code), failure = $4, updated_at = $5 WHERE id = $1
"""
_SAVE_TRANSFER_CODE: Final = """
UPDATE payout_requests SET transfer_code = coalesce($2, transfer_code), updated_at = $3 WHERE id = $1
"""
_SAVE_RECIPIENT_CODE: Final = "UPDATE payout_transfers SET recipient_code = $2 WHERE id = $1"
_PLAN_ASK: Final = "UPDATE payout_transfers SET due_at = $2, asks = asks + $3 WHERE id = $1"
_LEAVE_UNKNOWN: Final = """
UPDATE payout_transfers SET status = 'unknown', failure = $2, due_at = $3, updated_at = $4 WHERE id = $1 AND status = 'submitting'
"""
_TAKE_DUE: Final = """
UPDATE payout_transfers SET due_at = $2, status = CASE status WHEN 'submitting' THEN 'unknown' ELSE status END
WHERE id IN (SELECT id FROM payout_transfers WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
RETURNING id, status
"""
_FIND_TRANSFER: Final = "SELECT reference, status FROM payout_transfers WHERE id = $1"
_MARK_PROCESSED: Final = """
UPDATE payout_requests SET status = 'processed', processed_at = $2, updated_at = $2 WHERE id = $1 AND status = 'pending'
"""


@dataclass(frozen=True, slots=True)
class Submission:
    """What is sent for an attempt, and whether the details it goes to are still the vendor's verified ones."""

    reference: str
    amount_minor: int
    currency: str
    recipient: Recipient
    details_stand: bool


async def begin_submission(uow: UnitOfWork, transfer_id: UUID, *, was: str, at: datetime) -> Submission | None:
    """Takes an attempt that is still in the state `was`; None when somebody else has taken it."""
    row = await uow.fetch_row(_BEGIN_SUBMISSION, transfer_id, was, at + LEASE, at)
    if row is None:
        return None
    recipient = Recipient(row["account_number"], row["bank_code"], row["account_name"] or "")
    return Submission(row["reference"], row["amount"], row["currency"], recipient, row["details_stand"])


async def lock_transfer(
    uow: UnitOfWork, *, reference: str | None = None, transfer_id: UUID | None = None
) -> TransferInHand | None:
    """Holds a transfer and its payout until the end of the unit of work."""
    by, value = (_LOCK_BY_ID, transfer_id) if reference is None else (_LOCK_BY_REFERENCE, reference)
    row = await uow.fetch_row(by, value)
    if row is None:
        return None
    standing = await uow.fetch_value(_READ_STANDING_OF_TRANSFER, row["id"])
    return TransferInHand(
        row["id"],
        row["payout_id"],
        row["vendor_id"],
        row["batch_id"],
        row["reference"],
        row["status"],
        row["amount"],
        row["currency"],
        row["payout_status"],
        standing,
        row["asks"],
    )


async def record_observation(uow: UnitOfWork, transfer_id: UUID, news: News, verdict: Verdict, at: datetime) -> None:
    await uow.execute(
        _RECORD_OBSERVATION,
        new_id(),
        transfer_id,
        news.heard_from,
        news.status,
        verdict,
        news.amount_minor,
        news.currency,
        news.transfer_code,
        news.reason,
        news.gateway_event_id,
        at,
    )


async def save_transfer_status(uow: UnitOfWork, transfer: TransferInHand, news: News, at: datetime) -> None:
    """The gateway's own word for the transfer, and its code for it on both rows."""
    await uow.execute(_SAVE_STATUS, transfer.id, news.status, news.transfer_code, news.reason, at)
    await uow.execute(_SAVE_TRANSFER_CODE, transfer.payout_id, news.transfer_code, at)


async def save_recipient_code(uow: UnitOfWork, transfer_id: UUID, recipient_code: str) -> None:
    await uow.execute(_SAVE_RECIPIENT_CODE, transfer_id, recipient_code)


async def plan_ask(uow: UnitOfWork, transfer_id: UUID, due_at: datetime | None, *, asked: bool) -> None:
    """When the gateway is to be asked next; None: there is nothing left to ask."""
    await uow.execute(_PLAN_ASK, transfer_id, due_at, int(asked))


async def leave_unknown(uow: UnitOfWork, transfer_id: UUID, reason: str, due_at: datetime, at: datetime) -> bool:
    """The call ended without an answer; False when news of the transfer was quicker."""
    return await uow.execute(_LEAVE_UNKNOWN, transfer_id, reason, due_at, at) == 1


async def take_due_transfers(uow: UnitOfWork, now: datetime, lease: timedelta, limit: int) -> list[tuple[UUID, str]]:
    """Transfers that are due, each for one worker at a time; one that is still `submitting` by now lost its dispatcher."""
    return [(row["id"], row["status"]) for row in await uow.fetch(_TAKE_DUE, now, now + lease, limit)]


async def find_transfer(uow: UnitOfWork, transfer_id: UUID) -> tuple[str, str] | None:
    """Reference and status, without a lock."""
    row = await uow.fetch_row(_FIND_TRANSFER, transfer_id)
    return None if row is None else (row["reference"], row["status"])


async def mark_processed(uow: UnitOfWork, payout_id: UUID, at: datetime) -> bool:
    return await uow.execute(_MARK_PROCESSED, payout_id, at) == 1


# --- Exceptions ---

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
