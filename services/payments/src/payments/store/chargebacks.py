"""SQL for chargebacks and the allocation of their losses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

import asyncpg

from common.database.state_changes import allows_change, change_state
from common.database.unit_of_work import Reads, UnitOfWork
from payments.domain.chargeback_postings import loss_key
from payments.domain.chargebacks import (
    UNSENT_STATUSES,
    ChargebackAllocation,
    DisputedCharge,
    NewChargeback,
    Outcome,
    UnsentRefund,
)
from payments.domain.escrow import Parts
from payments.domain.transitions import CHARGEBACK, ChargebackStatus
from providers.gateways import GatewayName


@dataclass(frozen=True, slots=True)
class Chargeback:
    """A recorded dispute, or the part of one of its charge's orders. `allocation` of a lost one omits the refunds."""

    id: UUID
    amount_minor: int
    currency: str
    status: ChargebackStatus
    allocation: ChargebackAllocation
    order_id: UUID | None = None


class DueChargeback(NamedTuple):
    """An open chargeback without a response, whose date is near."""

    id: UUID
    identity: str
    gateway: GatewayName
    amount_minor: int
    currency: str
    due_at: datetime


# The lock serializes the chargebacks of one charge. Of two charges under one reference the gateway's id selects one,
# else that of the recorded dispute, else the charge that holds an order.
_LOCK_DISPUTED: Final = """
SELECT c.id, c.reference, c.amount_minor, c.currency, e.order_id, number_of_order(e.order_id)
FROM charges c LEFT JOIN escrows e ON e.charge_id = c.id LEFT JOIN purchase_orders p ON p.order_id = e.order_id
WHERE CASE WHEN $1::text IS NULL THEN c.gateway_id = $2 ELSE c.reference = $1 END
ORDER BY (c.gateway_id = $2) DESC NULLS LAST,
    (c.id = (SELECT charge_id FROM chargebacks WHERE identity = $3)) DESC NULLS LAST,
    (e.order_id IS NOT NULL) DESC, c.id, p.position LIMIT 1
FOR NO KEY UPDATE OF c
"""
_COLUMNS: Final = """
id, amount_minor, currency, status, locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor,
released_vendor_minor, released_commission_minor, released_delivery_fee_minor, loss_minor, order_id
"""
_LOCK_CHARGEBACKS: Final = f"""
SELECT {_COLUMNS} FROM chargebacks
WHERE identity = $1 OR part_of = (SELECT id FROM chargebacks WHERE identity = $1)
ORDER BY part_of IS NOT NULL, id FOR UPDATE
"""
_LOCK_LOST: Final = (
    f"SELECT {_COLUMNS} FROM chargebacks WHERE charge_id = $1 AND status = 'lost' ORDER BY id FOR UPDATE"
)
_RECORD: Final = """
INSERT INTO chargebacks (id, identity, charge_id, order_id, amount_minor, currency, status, reason, opened_at, part_of)
VALUES ($1, $2, $3, $4, $5, $6, 'opened', $7, $8, $9)
"""
_DECIDE: Final = f"""
UPDATE chargebacks SET status = $2, amount_minor = $3, decided_at = $4, locked_vendor_minor = $5,
    locked_commission_minor = $6, locked_delivery_fee_minor = $7, released_vendor_minor = $8,
    released_commission_minor = $9, released_delivery_fee_minor = $10, loss_minor = $11
WHERE id = $1 AND status = $12 AND {allows_change(CHARGEBACK, "$2")}
"""
_LOSS_POSTED: Final = "SELECT EXISTS (SELECT FROM ledger_transactions WHERE posting_key = $1)"
_SAVE_ALLOCATION: Final = """
UPDATE chargebacks SET locked_vendor_minor = $2, locked_commission_minor = $3, locked_delivery_fee_minor = $4,
    released_vendor_minor = $5, released_commission_minor = $6, released_delivery_fee_minor = $7, loss_minor = $8
WHERE id = $1
"""
# Another date is alerted again.
_SAVE_DUE: Final = """
UPDATE chargebacks SET due_at = $2, due_alerted_at = NULL WHERE id = $1 AND due_at IS DISTINCT FROM $2
"""
_SAVE_RESPONDED: Final = """
UPDATE chargebacks SET responded_at = $2 WHERE id = $1 AND responded_at IS NULL RETURNING due_alerted_at IS NOT NULL
"""
_LIST_DUE: Final = """
SELECT b.id, b.identity, c.gateway, b.amount_minor, b.currency, b.due_at FROM chargebacks b
JOIN charges c ON c.id = b.charge_id
WHERE b.status = 'opened' AND b.due_alerted_at IS NULL AND b.responded_at IS NULL AND b.due_at <= $1 ORDER BY b.due_at
LIMIT 50
"""
_CLAIM_DUE: Final = """
UPDATE chargebacks SET due_alerted_at = $2
WHERE id = $1 AND status = 'opened' AND due_alerted_at IS NULL AND responded_at IS NULL AND due_at <= $3 RETURNING true
"""
_LIST_UNKNOWN: Final = """
SELECT identity FROM unnest($1::text[]) AS listed (identity)
WHERE NOT EXISTS (SELECT FROM chargebacks b WHERE b.identity = listed.identity)
"""
# A dispute without an id of its own cannot be queried, and a part of a dispute has none.
_QUERIED: Final = """
SELECT b.identity FROM chargebacks b JOIN charges c ON c.id = b.charge_id
WHERE b.part_of IS NULL AND b.identity NOT LIKE 'transaction:%' AND c.gateway = $1
"""
_LIST_OPENED: Final = f"{_QUERIED} AND b.status = 'opened' ORDER BY b.opened_at LIMIT 500"
_LIST_DECIDED: Final = f"{_QUERIED} AND b.decided_at >= $2 ORDER BY b.decided_at DESC LIMIT 500"
_OPEN_OF_ORDER: Final = "SELECT EXISTS (SELECT FROM chargebacks WHERE order_id = $1 AND status = 'opened')"
_CHARGED_BACK: Final = "SELECT EXISTS (SELECT FROM escrows WHERE order_id = $1 AND charged_back_minor > 0)"
_LOCK_CHARGE: Final = "SELECT FROM charges WHERE id = $1 FOR NO KEY UPDATE"
_DISPUTED_OR_LOST: Final = """
SELECT EXISTS (SELECT FROM chargebacks WHERE charge_id = $1 AND status IN ('opened', 'lost'))
"""
_RELEASE_STANDS: Final = "SELECT EXISTS (SELECT FROM releases WHERE id = $1)"
_ENDING: Final = "SELECT cause FROM releases WHERE order_id = $1 AND cause <> 'staff' ORDER BY released_at DESC LIMIT 1"
_HOLDS_REFUND: Final = """
SELECT EXISTS (
    SELECT FROM chargebacks b JOIN refunds f ON f.charge_id = b.charge_id WHERE f.id = $1 AND b.status = 'opened'
)
"""
_LOCK_UNSENT: Final = """
SELECT id, amount_minor, order_id FROM refunds
WHERE charge_id = $1 AND status = ANY ($2::text[]) AND kind <> 'outside' AND needs_account_at IS NULL
ORDER BY created_at, id FOR UPDATE
"""
_WAITING: Final = "SELECT id FROM refunds WHERE charge_id = $1 AND status = 'pending' ORDER BY created_at, id"
_RECORD_PART: Final = """
INSERT INTO chargeback_refunds (chargeback_id, refund_id, amount_minor) VALUES ($1, $2, $3)
ON CONFLICT (chargeback_id, refund_id)
DO UPDATE SET amount_minor = chargeback_refunds.amount_minor + excluded.amount_minor
"""
_LIST_PARTS: Final = (
    "SELECT refund_id, amount_minor FROM chargeback_refunds WHERE chargeback_id = $1 ORDER BY refund_id"
)
_REMOVE_PARTS: Final = "DELETE FROM chargeback_refunds WHERE chargeback_id = $1"
_REDUCE_REFUND: Final = "UPDATE refunds SET amount_minor = amount_minor - $2 WHERE id = $1"


async def lock_disputed_charge(
    uow: UnitOfWork, reference: str | None, gateway_id: str | None, dispute: str | None = None
) -> DisputedCharge | None:
    """Return the charge; `dispute` is the identity of a dispute that may be recorded."""
    row = await uow.fetch_row(_LOCK_DISPUTED, reference, gateway_id, dispute)
    return None if row is None else DisputedCharge(*row)


async def lock_chargebacks(uow: UnitOfWork, identity: str) -> list[Chargeback]:
    """Return the dispute, of several orders the part of each, the one with the dispute's own identity first."""
    return [_chargeback(row) for row in await uow.fetch(_LOCK_CHARGEBACKS, identity)]


async def lock_lost_chargebacks(uow: UnitOfWork, charge_id: UUID) -> list[Chargeback]:
    return [_chargeback(row) for row in await uow.fetch(_LOCK_LOST, charge_id)]


async def record_chargeback(uow: UnitOfWork, charge: DisputedCharge, new: NewChargeback, now: datetime) -> Chargeback:
    dispute = (new.identity, charge.id, new.order_id, new.amount_minor, charge.currency, new.reason)
    await uow.execute(_RECORD, new.id, *dispute, now, new.part_of)
    return Chargeback(new.id, new.amount_minor, charge.currency, "opened", ChargebackAllocation(), new.order_id)


async def count_losses(uow: UnitOfWork, chargeback_id: UUID) -> int:
    """Return the number of losses that were posted for the locked chargeback, the reversed ones too."""
    losses = 0
    while await uow.fetch_value(_LOSS_POSTED, loss_key(chargeback_id, losses + 1)):
        losses += 1
    return losses


async def save_decision(
    uow: UnitOfWork,
    chargeback: Chargeback,
    status: Outcome,
    amount_minor: int,
    allocation: ChargebackAllocation,
    now: datetime,
) -> None:
    """Save the status `won` or `lost` of the locked chargeback, and the allocation of a loss."""
    await change_state(uow, _DECIDE, chargeback.id, status, amount_minor, now, *_amounts(allocation), chargeback.status)
    await uow.execute_many(
        _RECORD_PART, [(chargeback.id, refund.id, refund.amount_minor) for refund in allocation.from_refunds]
    )


async def save_allocation(
    uow: UnitOfWork, chargeback_id: UUID, allocation: ChargebackAllocation, refund: UnsentRefund
) -> None:
    """Count a refund against a lost chargeback, whose remaining allocation is `allocation`."""
    await uow.execute(_SAVE_ALLOCATION, chargeback_id, *_amounts(allocation))
    await uow.execute(_RECORD_PART, chargeback_id, refund.id, refund.amount_minor)


async def save_corrected_allocation(uow: UnitOfWork, chargeback_id: UUID, allocation: ChargebackAllocation) -> None:
    """Save the allocation of an outside refund that the platform bears now."""
    await uow.execute(_SAVE_ALLOCATION, chargeback_id, *_amounts(allocation))


async def save_due(uow: UnitOfWork, chargeback_id: UUID, due_at: datetime) -> None:
    await uow.execute(_SAVE_DUE, chargeback_id, due_at)


async def save_responded(uow: UnitOfWork, chargeback_id: UUID, now: datetime) -> bool:
    """Return whether this is the first response, and its date had been alerted."""
    return bool(await uow.fetch_value(_SAVE_RESPONDED, chargeback_id, now))


async def list_due_chargebacks(reads: Reads, due_before: datetime) -> list[DueChargeback]:
    return [DueChargeback(*row) for row in await reads.fetch(_LIST_DUE, due_before)]


async def claim_due_alert(uow: UnitOfWork, chargeback_id: UUID, now: datetime, due_before: datetime) -> bool:
    """Return whether the alert is this caller's: one for each date."""
    return bool(await uow.fetch_value(_CLAIM_DUE, chargeback_id, now, due_before))


async def list_unknown_identities(uow: UnitOfWork, identities: Sequence[str]) -> list[str]:
    """Those of the gateway's disputes that are not recorded."""
    return [row["identity"] for row in await uow.fetch(_LIST_UNKNOWN, identities)]


async def list_opened_identities(uow: UnitOfWork, gateway: GatewayName) -> list[str]:
    """Return the disputes at one gateway that are recorded as open."""
    return [row["identity"] for row in await uow.fetch(_LIST_OPENED, gateway)]


async def list_decided_identities(uow: UnitOfWork, gateway: GatewayName, since: datetime) -> list[str]:
    """Return at most 500 disputes at one gateway that were decided since then, the newest first."""
    return [row["identity"] for row in await uow.fetch(_LIST_DECIDED, gateway, since)]


async def chargeback_is_open(uow: UnitOfWork, order_id: UUID) -> bool:
    return bool(await uow.fetch_value(_OPEN_OF_ORDER, order_id))


async def was_charged_back(uow: UnitOfWork, order_id: UUID) -> bool:
    """Return whether banks hold money of the order."""
    return bool(await uow.fetch_value(_CHARGED_BACK, order_id))


async def charge_is_disputed(uow: UnitOfWork, charge_id: UUID) -> bool:
    """Return whether a chargeback of the charge is open or lost. Locks the charge against a concurrent dispute."""
    await uow.execute(_LOCK_CHARGE, charge_id)
    return bool(await uow.fetch_value(_DISPUTED_OR_LOST, charge_id))


async def release_exists(uow: UnitOfWork, release_id: UUID) -> bool:
    return bool(await uow.fetch_value(_RELEASE_STANDS, release_id))


async def find_final_release_cause(uow: UnitOfWork, order_id: UUID) -> Literal["delivery", "resolution"] | None:
    """Return the cause of the order's final release; None before it."""
    cause: Literal["delivery", "resolution"] | None = await uow.fetch_value(_ENDING, order_id)
    return cause


async def refund_is_held(uow: UnitOfWork, refund_id: UUID) -> bool:
    """Return whether a dispute of the refund's charge is open."""
    return bool(await uow.fetch_value(_HOLDS_REFUND, refund_id))


async def lock_unsent_refunds(uow: UnitOfWork, charge_id: UUID) -> list[UnsentRefund]:
    """Return the unsent refunds of the charge, oldest first, locked against a concurrent submission."""
    rows = await uow.fetch(_LOCK_UNSENT, charge_id, list(UNSENT_STATUSES))
    return [UnsentRefund(*row) for row in rows]


async def list_waiting_refunds(uow: UnitOfWork, charge_id: UUID) -> list[UUID]:
    return [row["id"] for row in await uow.fetch(_WAITING, charge_id)]


async def claim_refund_parts(uow: UnitOfWork, chargeback_id: UUID) -> list[UnsentRefund]:
    """Remove and return the parts of refunds that the chargeback replaced."""
    rows = await uow.fetch(_LIST_PARTS, chargeback_id)
    await uow.execute(_REMOVE_PARTS, chargeback_id)
    return [UnsentRefund(*row) for row in rows]


async def reduce_refund(uow: UnitOfWork, refund: UnsentRefund) -> None:
    await uow.execute(_REDUCE_REFUND, refund.id, refund.amount_minor)


def _chargeback(row: asyncpg.Record) -> Chargeback:
    allocation = ChargebackAllocation((), Parts(*row[4:7]), Parts(*row[7:10]), row["loss_minor"])
    return Chargeback(row["id"], row["amount_minor"], row["currency"], row["status"], allocation, row["order_id"])


def _amounts(allocation: ChargebackAllocation) -> tuple[int, ...]:
    return (*allocation.from_locked, *allocation.from_released, allocation.loss_minor)
