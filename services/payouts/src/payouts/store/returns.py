"""SQL for writes that send a payout again or return its amount to the wallet. No decision is made here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.state_changes import allows_change, change_state, states_before
from common.database.unit_of_work import Reads, UnitOfWork
from payouts.domain.payout_transitions import HOLD, PAYOUT, HoldOutcome
from payouts.domain.returns import Attempt, LockedPayout
from payouts.domain.transitions import TRANSFER
from payouts.store.recoveries import recoveries_of
from providers.gateways import GatewayName

_LOCK_PAYOUT: Final = """
SELECT vendor_id, amount, status, retry_count, transfer_reference, number FROM payout_requests WHERE id = $1 FOR UPDATE
"""
# Under the payout's lock no submission of a reserved attempt can start.
_LOCK_ATTEMPTS: Final = f"""
SELECT t.id, t.reference, t.status, t.due_at IS NOT NULL AS leased,
       coalesce((SELECT o.verdict = 'contradiction'
           AND (o.update_source <> 'query' OR (o.amount, o.currency) <> (t.amount, t.currency))
                 FROM transfer_observations AS o WHERE o.transfer_id = t.id ORDER BY o.position DESC LIMIT 1),
                     false) AS contradicted,
       r.made > r.returned AS recovered, t.submissions > 0 AS sent,
       coalesce((SELECT o.status = 'success' FROM transfer_observations AS o WHERE o.transfer_id = t.id
                 ORDER BY o.position DESC LIMIT 1), false) AS reported_paid, r.returned
FROM payout_transfers AS t CROSS JOIN LATERAL ({recoveries_of("$1", "t.id")}) AS r
WHERE t.payout_id = $1 ORDER BY t.attempt FOR UPDATE OF t
"""
_LIST_HOLDS: Final = "SELECT id FROM transfer_holds WHERE payout_id = $1 AND status = 'held' ORDER BY id"
_SAVE_HOLD: Final = """
INSERT INTO transfer_holds (id, payout_id, transfer_id, vendor_id, amount, status, held_at)
VALUES ($1, $2, $3, $4, $5, 'held', $6)
"""
_END_HOLD: Final = f"""
UPDATE transfer_holds SET status = $2, decided_at = $3 WHERE id = $1 AND {allows_change(HOLD, "$2")}
"""
_IS_HELD: Final = "SELECT EXISTS (SELECT FROM transfer_holds WHERE payout_id = $1 AND status = 'held')"
_FIND_RETURN: Final = "SELECT kind FROM wallet_lines WHERE payout_id = $1 AND kind IN ('restitution', 'reversal')"
_MARK_FAILED: Final = f"""
UPDATE payout_requests SET status = 'failed', transfer_failure = $2, updated_at = $3
WHERE id = $1 AND status IN {states_before(PAYOUT, "amount_returned")}
"""
_WITHDRAW_UNSENT: Final = f"""
UPDATE payout_transfers SET status = 'failed', failure = $2, due_at = NULL, updated_at = $3
WHERE payout_id = $1 AND status IN {states_before(TRANSFER, "withdrawn")}
"""
_LIST_SENT: Final = """
SELECT t.id, t.reference, (SELECT coalesce(max(o.position), 0) FROM transfer_observations AS o
    WHERE o.transfer_id = t.id) AS last_position,
       t.gateway
FROM payout_transfers AS t WHERE t.payout_id = $1 AND t.submissions > 0 ORDER BY t.attempt
"""
_WAS_CONTRADICTED_SINCE: Final = """
SELECT EXISTS (SELECT FROM transfer_observations WHERE transfer_id = $1 AND position > $2 AND verdict = 'contradiction')
"""
_WAS_ACCEPTED: Final = "SELECT transfer_code IS NOT NULL FROM payout_transfers WHERE id = $1"
_SAVE_RESET: Final = """
UPDATE payout_requests SET retry_count = retry_count + 1, transfer_failure = $2, transfer_reference = $3,
       transfer_code = NULL, updated_at = $4
WHERE id = $1
"""
_SAVE_RETRY: Final = """
INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency,
                              bank_details_version_id, due_at, created_at, updated_at, gateway)
SELECT $2, id, vendor_id, retry_count + 1, transfer_reference, 'reserved', amount, currency, bank_details_version_id,
    $3, $4, $4, $5
FROM payout_requests WHERE id = $1
"""
_DELAY_RETRY: Final = """
UPDATE payout_transfers SET failure = $2, due_at = $3, updated_at = $4
WHERE id = $1 AND status = 'reserved' AND due_at IS NOT NULL
"""
_IS_RETRY: Final = "SELECT batch_id IS NULL FROM payout_transfers WHERE id = $1"
_RECORD_ACTION: Final = """
INSERT INTO payout_acts (payout_id, reconciliation_id, act, acted_by, reason, acted_at) VALUES ($1, $2, $3, $4, $5, $6)
"""


class SentAttempt(NamedTuple):
    """An attempt that the gateway may have, and the position of its last observation."""

    id: UUID
    reference: str
    last_position: int
    gateway: GatewayName


async def lock_payout_with_attempts(uow: UnitOfWork, payout_id: UUID) -> LockedPayout | None:
    """Locks the payout and all its attempts until the end of the unit of work, and reads them."""
    row = await uow.fetch_row(_LOCK_PAYOUT, payout_id)
    if row is None:
        return None
    attempts = tuple(Attempt(*attempt) for attempt in await uow.fetch(_LOCK_ATTEMPTS, payout_id))
    returned = await uow.fetch_value(_FIND_RETURN, payout_id)
    holds = tuple(hold["id"] for hold in await uow.fetch(_LIST_HOLDS, payout_id))
    vendor_id, amount_minor, status, retry_count, reference, number = row
    return LockedPayout(
        payout_id, vendor_id, amount_minor, status, retry_count, reference, attempts, returned, holds, number
    )


async def save_hold(uow: UnitOfWork, hold_id: UUID, payout: LockedPayout, transfer_id: UUID, at: datetime) -> None:
    """Hold the payout's amount for a transfer that may have been paid. Its posting belongs to the same unit of work."""
    await uow.execute(_SAVE_HOLD, hold_id, payout.id, transfer_id, payout.vendor_id, payout.amount_minor, at)


async def end_hold(uow: UnitOfWork, hold_id: UUID, status: HoldOutcome, at: datetime) -> None:
    """End an open hold. The payout must be locked."""
    await change_state(uow, _END_HOLD, hold_id, status, at)


async def is_held(uow: UnitOfWork, payout_id: UUID) -> bool:
    """Return whether the payout has an open hold. The payout must be locked."""
    return bool(await uow.fetch_value(_IS_HELD, payout_id))


async def mark_failed(uow: UnitOfWork, payout_id: UUID, reason: str, at: datetime) -> None:
    await change_state(uow, _MARK_FAILED, payout_id, reason, at)


async def withdraw_unsent_attempts(uow: UnitOfWork, payout_id: UUID, reason: str, at: datetime) -> None:
    """Fails the recorded attempts that were never sent."""
    await uow.execute(_WITHDRAW_UNSENT, payout_id, reason, at)


async def list_sent_attempts(uow: UnitOfWork, payout_id: UUID) -> list[SentAttempt]:
    """Return each attempt that the gateway may have."""
    return [SentAttempt(*row) for row in await uow.fetch(_LIST_SENT, payout_id)]


async def was_contradicted_since(uow: UnitOfWork, transfer_id: UUID, last_position: int) -> bool:
    """Return whether a contradiction was observed after `last_position`. The transfer must be locked."""
    return bool(await uow.fetch_value(_WAS_CONTRADICTED_SINCE, transfer_id, last_position))


async def was_accepted(uow: UnitOfWork, transfer_id: UUID) -> bool:
    """Return whether the gateway ever returned a code of the transfer."""
    return bool(await uow.fetch_value(_WAS_ACCEPTED, transfer_id))


@dataclass(frozen=True, slots=True)
class Retry:
    """A new attempt of a payout: its reference, its gateway, and the time from which it is sent."""

    id: UUID
    reference: str
    gateway: GatewayName
    due_at: datetime


async def save_reset(uow: UnitOfWork, payout_id: UUID, retry: Retry, reason: str, at: datetime) -> None:
    """Count the reset and record the new attempt, which belongs to no batch."""
    await uow.execute(_SAVE_RESET, payout_id, reason, retry.reference, at)
    await uow.execute(_SAVE_RETRY, payout_id, retry.id, retry.due_at, at, retry.gateway)


async def is_retry(reads: Reads, transfer_id: UUID) -> bool:
    """Return whether the attempt follows a reset, and no batch has selected it."""
    return bool(await reads.fetch_value(_IS_RETRY, transfer_id))


async def delay_retry(uow: UnitOfWork, transfer_id: UUID, reason: str, due_at: datetime, at: datetime) -> None:
    """Postpones the attempt; the row has the reason and the next time."""
    await uow.execute(_DELAY_RETRY, transfer_id, reason, due_at, at)


async def record_payout_action(
    uow: UnitOfWork, payout_id: UUID, reconciliation_id: UUID | None, action: str, by: UUID, reason: str, at: datetime
) -> None:
    """Record an action of staff for good."""
    await uow.execute(_RECORD_ACTION, payout_id, reconciliation_id, action, by, reason, at)
