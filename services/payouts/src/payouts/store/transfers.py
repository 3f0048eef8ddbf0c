"""SQL for writes to transfers and their observations. No decision is made here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from common.database.state_changes import StateChanged, change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payouts.domain.attempts import AttemptUpdate, CallHistory
from payouts.domain.dispatch import LEASE
from payouts.domain.gateway_results import Recipient
from payouts.domain.gateways import GatewayName
from payouts.domain.payout_transitions import PAYOUT
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.transitions import FAILED_OR_REVERSED, TRANSFER, UNDER_WAY, State, Verdict
from payouts.store.recoveries import recoveries_of

_START_SUBMISSION: Final = f"""
UPDATE payout_transfers AS t
SET status = 'submitting', submissions = submissions + 1, due_at = $2, updated_at = $3,
    called_at = CASE WHEN $4 THEN $3 ELSE called_at END
FROM bank_detail_versions AS v
WHERE t.id = $1 AND t.status IN {states_before(TRANSFER, "submission_started")} AND v.id = t.bank_details_version_id
RETURNING t.reference, t.amount, t.vendor_id, t.submissions,
          coalesce(v.account_sealed, v.account_number) AS account_kept, v.bank_code, v.account_name
"""
_HOLD: Final = """
UPDATE payout_transfers SET due_at = NULL, failure = $2, updated_at = $3 WHERE id = $1 AND status = 'reserved'
"""
# Attempts that a request has not sent in time are due at once.
_REQUEUE_UNSENT: Final = """
UPDATE payout_transfers SET due_at = $2 WHERE batch_id = $1 AND status = 'reserved' AND due_at IS NOT NULL
"""
# Payout before transfer, everywhere: two that need both never wait for each other in a circle.
_LOCK_TRANSFER: Final = """
SELECT t.id, t.payout_id, t.vendor_id, t.batch_id, t.reference, t.status, t.amount, t.currency,
       p.status AS payout_status, t.poll_count, t.due_at IS NOT NULL AS leased, t.submissions, t.called_at, t.fee,
       t.gateway, p.number
FROM payout_requests AS p JOIN payout_transfers AS t ON t.payout_id = p.id
WHERE {} FOR UPDATE OF p, t
"""
_LOCK_BY_REFERENCE: Final = _LOCK_TRANSFER.format("t.reference = $1")
_LOCK_BY_ID: Final = _LOCK_TRANSFER.format("t.id = $1")
# Read after the lock is held: a subquery of the locking statement would see the rows from before its wait.
_READ_HISTORY: Final = f"""
SELECT (SELECT status FROM transfer_observations WHERE transfer_id = $1 AND verdict IN ('advanced', 'confirmed')
        ORDER BY position DESC LIMIT 1),
       (SELECT min(observed_at) FROM transfer_observations WHERE transfer_id = $1 AND status NOT IN {UNDER_WAY}),
       EXISTS (SELECT FROM wallet_lines WHERE payout_id = $2 AND kind = 'reversal'),
       EXISTS (SELECT FROM payout_transfers WHERE payout_id = $2 AND id <> $1),
       (SELECT made > returned FROM ({recoveries_of("$2", "$1")}) AS r)
"""
_RECORD_OBSERVATION: Final = """
INSERT INTO transfer_observations (id, transfer_id, update_source, status, verdict, amount, currency, transfer_code,
                                   reason, gateway_event_id, observed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
# A report of an earlier attempt does not change the payout's present code. One report may be saved twice.
_SAVE_STATUS: Final = """
WITH named AS (
    UPDATE payout_requests SET updated_at = $5,
        transfer_code = CASE WHEN transfer_reference = $7 THEN coalesce($3, transfer_code) ELSE transfer_code END
    WHERE id = $6
)
UPDATE payout_transfers SET status = $2, transfer_code = coalesce($3, transfer_code), failure = $4, updated_at = $5
WHERE id = $1 AND status IN ($8, $2)
"""
_SAVE_FEE: Final = "UPDATE payout_transfers SET fee = $2, updated_at = $3 WHERE id = $1"
_SAVE_RECIPIENT_CODE: Final = "UPDATE payout_transfers SET recipient_code = $2 WHERE id = $1"
_SCHEDULE_POLL: Final = "UPDATE payout_transfers SET due_at = $2, poll_count = poll_count + $3 WHERE id = $1"
_MARK_UNKNOWN: Final = f"""
UPDATE payout_transfers SET status = 'unknown', failure = $2, due_at = $3, updated_at = $4, called_at = $5
WHERE id = $1 AND status IN {states_before(TRANSFER, "call_unanswered")}
"""
# Later checks of ended transfers come last: however many are due, they delay no payment.
_LOCK_DUE: Final = f"""
SELECT id, status FROM payout_transfers WHERE due_at <= $1 AND gateway = ANY ($3::text[])
ORDER BY status IN {("success", *FAILED_OR_REVERSED)}, due_at LIMIT $2 FOR UPDATE SKIP LOCKED
"""
# The partial index on `due_at` has the few transfers that are not final.
_LIST_GATEWAYS: Final = "SELECT DISTINCT gateway FROM payout_transfers WHERE due_at IS NOT NULL"
_CLAIM: Final = "UPDATE payout_transfers SET status = $2, due_at = $3 WHERE id = $1 AND status = $4"
_FIND_TRANSFER: Final = "SELECT payout_id, attempt, reference, status, gateway FROM payout_transfers WHERE id = $1"
# The attempt that was paid becomes the payout's transfer.
_MARK_PROCESSED: Final = f"""
UPDATE payout_requests AS p SET status = 'processed', processed_at = $2, updated_at = $2,
    transfer_reference = t.reference, transfer_code = t.transfer_code
FROM payout_transfers AS t WHERE t.id = $1 AND p.id = t.payout_id
    AND p.status IN {states_before(PAYOUT, "transfer_succeeded")}
"""


@dataclass(frozen=True, slots=True)
class Submission:
    """The data of a submission. One that may not be sent is only queried, so that it can fail."""

    reference: str
    amount_minor: int
    recipient: Recipient
    may_send: bool
    started_at: datetime
    calls: CallHistory


class DueTransfer(NamedTuple):
    """A transfer that is due, with its status."""

    id: UUID
    status: State


class TransferStatus(NamedTuple):
    """A transfer's status under its reference, its gateway, and its number among the attempts of its payout, from 1."""

    payout_id: UUID
    attempt: int
    reference: str
    status: State
    gateway: GatewayName


async def start_submission(uow: UnitOfWork, transfer: LockedTransfer, *, may_send: bool, at: datetime) -> Submission:
    """Start a submission with a lease. The transfer must be locked."""
    row = await uow.fetch_row(_START_SUBMISSION, transfer.id, at + LEASE, at, may_send)
    if row is None:
        raise StateChanged(f"transfer {transfer.id} has been submitted in the meantime")
    recipient = Recipient(row["vendor_id"], row["account_kept"], row["bank_code"], row["account_name"] or "")
    calls = CallHistory(row["submissions"], earlier_at=transfer.called_at)
    return Submission(row["reference"], row["amount"], recipient, may_send, at, calls)


async def hold_transfer(uow: UnitOfWork, transfer_id: UUID, reason: str, at: datetime) -> None:
    """Return an attempt that was never sent to the next dispatch: it keeps its reference and loses its lease."""
    await uow.execute(_HOLD, transfer_id, reason, at)


async def requeue_unsent(uow: UnitOfWork, batch_id: UUID, at: datetime) -> None:
    """Hands the batch's unsent attempts to the worker."""
    await uow.execute(_REQUEUE_UNSENT, batch_id, at)


async def lock_transfer(
    uow: UnitOfWork, *, reference: str | None = None, transfer_id: UUID | None = None
) -> LockedTransfer | None:
    """Locks a transfer and its payout until the end of the unit of work."""
    by, value = (_LOCK_BY_ID, transfer_id) if reference is None else (_LOCK_BY_REFERENCE, reference)
    row = await uow.fetch_row(by, value)
    if row is None:
        return None
    history = await uow.fetch_row(_READ_HISTORY, row["id"], row["payout_id"])
    if history is None:
        raise AssertionError("a SELECT without FROM returns one row")
    effective_status, ended_at, is_reversed, has_other_attempts, recovered = history
    returned = row["payout_status"] == "processed" and is_reversed
    # The columns are in the order of the fields; the effective status is between those of the payout and of the calls.
    ending = (ended_at, returned, row["fee"], row["gateway"], has_other_attempts, recovered, row["number"])
    fields: Any = (*row[:9], effective_status, *row[9:13], *ending)
    return LockedTransfer(*fields)


async def record_observation(
    uow: UnitOfWork, transfer_id: UUID, update: TransferUpdate, verdict: Verdict, at: datetime
) -> None:
    await uow.execute(
        _RECORD_OBSERVATION,
        new_id(),
        transfer_id,
        update.update_source,
        update.status,
        verdict,
        update.amount_minor,
        update.currency,
        update.transfer_code,
        update.reason,
        update.gateway_event_id,
        at,
    )


async def save_transfer_status(uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate, at: datetime) -> None:
    """Save the gateway's status of the transfer, and its code on both rows."""
    saved = (update.status, update.transfer_code, update.failure, at)
    await change_state(uow, _SAVE_STATUS, transfer.id, *saved, transfer.payout_id, transfer.reference, transfer.status)


async def save_fee(uow: UnitOfWork, transfer_id: UUID, fee_minor: int, at: datetime) -> None:
    """Save the gateway's fee, in kobo. Its posting belongs to the same unit of work."""
    await uow.execute(_SAVE_FEE, transfer_id, fee_minor, at)


async def save_recipient_code(uow: UnitOfWork, transfer_id: UUID, recipient_code: str) -> None:
    await uow.execute(_SAVE_RECIPIENT_CODE, transfer_id, recipient_code)


async def schedule_poll(uow: UnitOfWork, transfer_id: UUID, due_at: datetime | None, *, polled: bool) -> None:
    """Save when the gateway is queried next; None: never."""
    await uow.execute(_SCHEDULE_POLL, transfer_id, due_at, int(polled))


async def mark_unknown(uow: UnitOfWork, transfer_id: UUID, after: AttemptUpdate, at: datetime) -> bool:
    """Mark a call without a valid result; False when an update of the transfer was recorded first."""
    values = (after.reason, after.poll_at, at, after.called_at)
    return await uow.execute(_MARK_UNKNOWN, transfer_id, *values) == 1


async def lock_due_transfers(
    uow: UnitOfWork, now: datetime, limit: int, gateways: Sequence[GatewayName]
) -> list[DueTransfer]:
    """Locks due transfers of these gateways, each for one worker."""
    return [DueTransfer(*row) for row in await uow.fetch(_LOCK_DUE, now, limit, gateways)]


async def list_gateways_with_open_transfers(uow: UnitOfWork) -> list[GatewayName]:
    """Return the gateways whose transfers are still sent or queried."""
    return [row["gateway"] for row in await uow.fetch(_LIST_GATEWAYS)]


async def claim_transfer(uow: UnitOfWork, due: DueTransfer, status: State, until: datetime) -> None:
    """Leases the locked transfer to this worker."""
    await change_state(uow, _CLAIM, due.id, status, until, due.status)


async def find_transfer(uow: UnitOfWork, transfer_id: UUID) -> TransferStatus | None:
    """Return the transfer's status, without a lock."""
    row = await uow.fetch_row(_FIND_TRANSFER, transfer_id)
    return None if row is None else TransferStatus(*row)


async def mark_processed(uow: UnitOfWork, transfer_id: UUID, at: datetime) -> bool:
    """Completes the payout of a paid transfer; False when it was decided before."""
    return await uow.execute(_MARK_PROCESSED, transfer_id, at) == 1
