"""SQL for writes to transfers and their observations. No decision is made here."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.outbox import Writes
from common.database.state_changes import StateChanged, change_state, states_before
from common.database.unit_of_work import Reads, UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from common.primitives.ids import new_id
from contracts.event import Event
from payouts.domain.attempts import AttemptUpdate, CallHistory
from payouts.domain.dispatch import LEASE
from payouts.domain.gateway_results import Recipient
from payouts.domain.payout_transitions import PAYOUT
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.transitions import FAILED_OR_REVERSED, TRANSFER, UNDER_WAY, State, Verdict
from payouts.store.recoveries import recoveries_of
from providers.gateways import GatewayName

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
SELECT FROM payout_requests AS p JOIN payout_transfers AS t ON t.payout_id = p.id WHERE {} FOR UPDATE OF p, t
"""
# The fields of a `LockedTransfer`, in their order. Read after the lock is held: a subquery of the locking statement
# would see the rows from before its wait.
TRANSFER_COLUMNS: Final = f"""
    t.id AS transfer_id, t.payout_id, t.vendor_id AS payee_id, t.batch_id, t.reference, t.status AS transfer_status,
    t.amount AS transfer_amount, t.currency, p.status AS payout_status,
    (SELECT status FROM transfer_observations WHERE transfer_id = t.id AND verdict IN ('advanced', 'confirmed')
     ORDER BY position DESC LIMIT 1) AS effective_status,
    t.poll_count, t.due_at IS NOT NULL AS leased, t.submissions, t.called_at,
    (SELECT min(observed_at) FROM transfer_observations WHERE transfer_id = t.id AND status NOT IN {UNDER_WAY}),
    p.status = 'processed' AND EXISTS (SELECT FROM wallet_lines WHERE payout_id = p.id AND kind = 'reversal'),
    t.fee, t.gateway, EXISTS (SELECT FROM payout_transfers WHERE payout_id = p.id AND id <> t.id),
    (SELECT made > returned FROM ({recoveries_of("p.id", "t.id")}) AS r), p.number AS payout_number, t.attempt,
    EXISTS (SELECT FROM payout_exceptions WHERE payout_id = p.id AND status = 'open'),
    p.restitution_reason IS NOT NULL
"""
_TRANSFER_FIELDS: Final = len(fields(LockedTransfer))
_READ_TRANSFER: Final = f"""
SELECT {TRANSFER_COLUMNS} FROM payout_requests AS p JOIN payout_transfers AS t ON t.payout_id = p.id WHERE {{}} = $1
"""
_READ_BY_ID: Final = _READ_TRANSFER.format("t.id")
_READ_BY_REFERENCE: Final = _READ_TRANSFER.format("t.reference")
_LOCK_BY_REFERENCE: Final = _LOCK_TRANSFER.format("t.reference = $1")
# The observation, and all that it changes of the transfer: a row is changed once in a statement.
_OBSERVED: Final = Writes(
    """
observed AS (
    INSERT INTO transfer_observations (id, transfer_id, update_source, status, verdict, amount, currency, transfer_code,
                                       reason, gateway_event_id, observed_at)
    VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9, $10, $11)
), changed AS (
    UPDATE payout_transfers SET status = coalesce($13::text, status),
        transfer_code = CASE WHEN $13 IS NULL THEN transfer_code ELSE coalesce($8, transfer_code) END,
        failure = CASE WHEN $13 IS NULL THEN failure ELSE $14 END,
        fee = coalesce($15, fee), recipient_code = coalesce($16, recipient_code),
        due_at = CASE WHEN $17 THEN $18 ELSE due_at END, poll_count = poll_count + $19,
        updated_at = CASE WHEN $13 IS NULL AND $15 IS NULL THEN updated_at ELSE $11 END
    WHERE id = $1 AND status IN ($12, $13)
      AND ($13::text IS NOT NULL OR $15::bigint IS NOT NULL OR $16::text IS NOT NULL OR $17)
    RETURNING payout_id, reference, transfer_code
)""",
    "(SELECT count(*) FROM changed) AS changed_transfers",
)
# A report of an earlier attempt does not change the payout's present code.
_NAMED: Final = _OBSERVED._replace(
    tables=f"""{_OBSERVED.tables}, named AS (
    UPDATE payout_requests AS p SET updated_at = $11, transfer_code = CASE
        WHEN p.transfer_reference = changed.reference THEN coalesce($8, p.transfer_code) ELSE p.transfer_code END
    FROM changed WHERE p.id = changed.payout_id
    RETURNING 1
)""",
    result=f"{_OBSERVED.result}, (SELECT count(*) FROM named) AS changed_payouts",
)
# The attempt that was paid becomes the payout's transfer.
_PROCESSED: Final = _OBSERVED._replace(
    tables=f"""{_OBSERVED.tables}, processed AS (
    UPDATE payout_requests AS p SET status = 'processed', processed_at = $11, updated_at = $11,
        transfer_reference = changed.reference, transfer_code = changed.transfer_code
    FROM changed WHERE p.id = changed.payout_id AND p.status IN {states_before(PAYOUT, "transfer_succeeded")}
    RETURNING 1
)""",
    result=f"{_OBSERVED.result}, (SELECT count(*) FROM processed) AS changed_payouts",
)
# One report may be saved twice.
_SAVE_STATUS: Final = """
WITH named AS (
    UPDATE payout_requests SET updated_at = $5,
        transfer_code = CASE WHEN transfer_reference = $7 THEN coalesce($3, transfer_code) ELSE transfer_code END
    WHERE id = $6
)
UPDATE payout_transfers SET status = $2, transfer_code = coalesce($3, transfer_code), failure = $4, updated_at = $5
WHERE id = $1 AND status IN ($8, $2)
"""
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


@dataclass(frozen=True, slots=True)
class Submission:
    """The data of a submission. One that may not be sent is only queried, so that it can fail."""

    reference: str
    gateway: GatewayName
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
    return Submission(row["reference"], transfer.gateway, row["amount"], recipient, may_send, at, calls)


async def hold_transfer(uow: UnitOfWork, transfer_id: UUID, reason: str, at: datetime) -> None:
    """Return an attempt that was never sent to the next dispatch: it keeps its reference and loses its lease."""
    await uow.execute(_HOLD, transfer_id, reason, at)


async def requeue_unsent(uow: UnitOfWork, batch_id: UUID, at: datetime) -> None:
    """Hands the batch's unsent attempts to the worker."""
    await uow.execute(_REQUEUE_UNSENT, batch_id, at)


def lock_statement(transfer_id: UUID) -> str:
    """Return the statement that locks a transfer and its payout, for BEGIN's round trip. `read_transfer` reads them."""
    return _LOCK_TRANSFER.format(f"t.id = '{transfer_id}'")


async def read_transfer(uow: UnitOfWork, transfer_id: UUID) -> LockedTransfer:
    """Return the transfer, which the transaction has locked in an earlier statement."""
    row = await uow.fetch_row(_READ_BY_ID, transfer_id)
    if row is None:
        raise AssertionError("a transfer is never removed")
    return locked_transfer_of(row)


async def lock_transfer(uow: UnitOfWork, reference: str) -> LockedTransfer | None:
    """Locks a transfer and its payout until the end of the unit of work."""
    await uow.execute(_LOCK_BY_REFERENCE, reference)
    row = await uow.fetch_row(_READ_BY_REFERENCE, reference)
    return None if row is None else locked_transfer_of(row)


def locked_transfer_of(row: asyncpg.Record) -> LockedTransfer:
    """Return the transfer of a row that starts with `TRANSFER_COLUMNS`."""
    return LockedTransfer(*row[:_TRANSFER_FIELDS])


class Poll(NamedTuple):
    """When the gateway is queried next (None: never), and whether it was queried now."""

    due_at: datetime | None
    polled: bool


@dataclass(frozen=True, slots=True)
class RecordedUpdate:
    """An update with its verdict, and all that it changes: `sets_status` of the transfer, `processes` the payout,
    the gateway's fee (kobo), its code of the recipient, and the next poll; None: unchanged.
    """

    update: TransferUpdate
    verdict: Verdict
    sets_status: bool = False
    processes: bool = False
    fee_minor: int | None = None
    recipient_code: str | None = None
    poll: Poll | None = None

    @property
    def is_change(self) -> bool:
        """Return whether the transfer's row changes."""
        changed = (self.fee_minor, self.recipient_code, self.poll)
        return self.sets_status or any(value is not None for value in changed)


async def record_observation(
    uow: UnitOfWork,
    transfer: LockedTransfer,
    record: RecordedUpdate,
    at: datetime,
    *,
    postings: Sequence[Posting] = (),
    event: Event | None = None,
) -> None:
    """Record the update with its changes, postings and event in one round trip. The transfer must be locked.

    Raises StateChanged, and as `ledger.post`.
    """
    update, (due_at, polled) = record.update, record.poll or Poll(None, polled=False)
    writes = _PROCESSED if record.processes else _NAMED if record.sets_status else _OBSERVED
    values: Sequence[object] = (
        transfer.id,
        new_id(),
        update.update_source,
        update.status,
        record.verdict,
        update.amount_minor,
        update.currency,
        update.transfer_code,
        update.reason,
        update.gateway_event_id,
        at,
        transfer.status,
        update.status if record.sets_status else None,
        update.failure,
        record.fee_minor,
        record.recipient_code,
        record.poll is not None,
        due_at,
        int(polled),
    )
    for posting in postings:
        writes, values = ledger.with_posting(writes, values, posting)
    with ledger.posting_errors():
        changed = await uow.fetch_row_and_publish(writes, *values, event=event)
    if changed["changed_transfers"] != record.is_change or changed.get("changed_payouts", 1) != 1:
        raise StateChanged(f"transfer {transfer.id} or its payout has changed in the meantime")


async def save_transfer_status(uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate, at: datetime) -> None:
    """Save the gateway's status of the transfer, and its code on both rows."""
    saved = (update.status, update.transfer_code, update.failure, at)
    await change_state(uow, _SAVE_STATUS, transfer.id, *saved, transfer.payout_id, transfer.reference, transfer.status)


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


async def find_transfer(reads: Reads, transfer_id: UUID) -> TransferStatus | None:
    """Return the transfer's status, without a lock."""
    row = await reads.fetch_row(_FIND_TRANSFER, transfer_id)
    return None if row is None else TransferStatus(*row)
