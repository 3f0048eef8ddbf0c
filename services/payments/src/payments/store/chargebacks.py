"""SQL for writes: what banks ask back, and where it was taken from."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import UNSENT_STATUSES, ChargebackAllocation, DisputedCharge, UnsentRefund
from payments.domain.escrow import Escrow, Parts


@dataclass(frozen=True, slots=True)
class Chargeback:
    """A dispute as it stands; `take` is where a lost one took from, without the refunds."""

    id: UUID
    amount_minor: int
    currency: str
    status: str
    take: ChargebackAllocation


# The lock that orders everything which happens to the chargebacks of one charge. Two charges may stand under one reference:
# the gateway's id tells them apart, and where it does not, the one that holds an order is meant.
_LOCK_DISPUTED: Final = """
SELECT c.id, c.reference, c.amount_minor, c.currency, e.order_id
FROM charges c LEFT JOIN escrows e ON e.charge_id = c.id
WHERE CASE WHEN $1::text IS NULL THEN c.gateway_id = $2 ELSE c.reference = $1 END
ORDER BY (c.gateway_id = $2) DESC NULLS LAST, (e.order_id IS NOT NULL) DESC, c.id LIMIT 1
FOR NO KEY UPDATE OF c
"""
_COLUMNS: Final = """
id, amount_minor, currency, status, locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor,
released_vendor_minor, released_commission_minor, released_delivery_fee_minor, loss_minor
"""
_LOCK_CHARGEBACK: Final = f"SELECT {_COLUMNS} FROM chargebacks WHERE identity = $1 FOR UPDATE"
_LOCK_LOST: Final = (
    f"SELECT {_COLUMNS} FROM chargebacks WHERE charge_id = $1 AND status = 'lost' ORDER BY id FOR UPDATE"
)
_RECORD: Final = """
INSERT INTO chargebacks (id, identity, charge_id, order_id, amount_minor, currency, status, reason, opened_at)
VALUES ($1, $2, $3, $4, $5, $6, 'opened', $7, $8)
"""
_DECIDE: Final = """
UPDATE chargebacks SET status = $2, amount_minor = $3, decided_at = $4, locked_vendor_minor = $5,
    locked_commission_minor = $6, locked_delivery_fee_minor = $7, released_vendor_minor = $8,
    released_commission_minor = $9, released_delivery_fee_minor = $10, loss_minor = $11
WHERE id = $1
"""
_SAVE_TAKE: Final = """
UPDATE chargebacks SET locked_vendor_minor = $2, locked_commission_minor = $3, locked_delivery_fee_minor = $4,
    released_vendor_minor = $5, released_commission_minor = $6, released_delivery_fee_minor = $7, loss_minor = $8
WHERE id = $1
"""
# One statement, because the row accounts for all of its money after each.
_SAVE_ESCROW: Final = """
UPDATE escrows SET locked_vendor_minor = $2, locked_commission_minor = $3, locked_delivery_fee_minor = $4,
    released_vendor_minor = $5, released_commission_minor = $6, released_delivery_fee_minor = $7, refunded_minor = $8,
    charged_back_minor = charged_back_minor + $9
WHERE order_id = $1
"""
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
_CHARGE_OF_REFUND: Final = "SELECT charge_id FROM refunds WHERE id = $1"
_LOCK_UNSENT: Final = """
SELECT id, amount_minor FROM refunds WHERE charge_id = $1 AND status = ANY ($2::text[]) ORDER BY created_at, id FOR UPDATE
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


async def lock_disputed_charge(uow: UnitOfWork, reference: str | None, gateway_id: str | None) -> DisputedCharge | None:
    row = await uow.fetch_row(_LOCK_DISPUTED, reference, gateway_id)
    if row is None:
        return None
    return DisputedCharge(row["id"], row["reference"], row["amount_minor"], row["currency"], row["order_id"])


async def lock_chargeback(uow: UnitOfWork, identity: str) -> Chargeback | None:
    row = await uow.fetch_row(_LOCK_CHARGEBACK, identity)
    return None if row is None else _chargeback(row)


async def lock_lost_chargebacks(uow: UnitOfWork, charge_id: UUID) -> list[Chargeback]:
    return [_chargeback(row) for row in await uow.fetch(_LOCK_LOST, charge_id)]


async def record_chargeback(
    uow: UnitOfWork,
    chargeback_id: UUID,
    identity: str,
    charge: DisputedCharge,
    amount_minor: int,
    reason: str | None,
    now: datetime,
) -> None:
    await uow.execute(
        _RECORD, chargeback_id, identity, charge.id, charge.order_id, amount_minor, charge.currency, reason, now
    )


async def save_decision(
    uow: UnitOfWork, chargeback_id: UUID, status: str, amount_minor: int, take: ChargebackAllocation, now: datetime
) -> None:
    """`won` or `lost`, and where the money is that it took."""
    await uow.execute(_DECIDE, chargeback_id, status, amount_minor, now, *_amounts(take))
    await uow.execute_many(
        _RECORD_PART, [(chargeback_id, refund.id, refund.amount_minor) for refund in take.from_refunds]
    )


async def save_allocation(
    uow: UnitOfWork, chargeback_id: UUID, take: ChargebackAllocation, refund: UnsentRefund
) -> None:
    """A refund that was counted against a lost chargeback: `take` is what is left of it."""
    await uow.execute(_SAVE_TAKE, chargeback_id, *_amounts(take))
    await uow.execute(_RECORD_PART, chargeback_id, refund.id, refund.amount_minor)


async def save_charged_back(uow: UnitOfWork, order_id: UUID, after: Escrow, change_minor: int) -> None:
    """The escrow after a bank took or gave back: `change_minor` (kobo) is added to what banks have of the order."""
    await uow.execute(_SAVE_ESCROW, order_id, *_parts(after.locked, after.released), after.refunded_minor, change_minor)


async def chargeback_is_open(uow: UnitOfWork, order_id: UUID) -> bool:
    return bool(await uow.fetch_value(_OPEN_OF_ORDER, order_id))


async def was_charged_back(uow: UnitOfWork, order_id: UUID) -> bool:
    """Whether banks have money that the order held."""
    return bool(await uow.fetch_value(_CHARGED_BACK, order_id))


async def charge_is_disputed(uow: UnitOfWork, charge_id: UUID) -> bool:
    """Whether a bank asks for the charge's money, or has taken it. Holds the charge, so that no dispute of it is written down meanwhile."""
    await uow.execute(_LOCK_CHARGE, charge_id)
    return bool(await uow.fetch_value(_DISPUTED_OR_LOST, charge_id))


async def release_stands(uow: UnitOfWork, release_id: UUID) -> bool:
    return bool(await uow.fetch_value(_RELEASE_STANDS, release_id))


async def find_ending(uow: UnitOfWork, order_id: UUID) -> Literal["delivery", "resolution"] | None:
    """What released all that the order was to release; None while that is still to come."""
    cause: Literal["delivery", "resolution"] | None = await uow.fetch_value(_ENDING, order_id)
    return cause


async def refund_is_held(uow: UnitOfWork, refund_id: UUID) -> bool:
    """Whether a dispute of the refund's charge is open."""
    return bool(await uow.fetch_value(_HOLDS_REFUND, refund_id))


async def find_charge_of_refund(uow: UnitOfWork, refund_id: UUID) -> UUID:
    charge_id: UUID = await uow.fetch_value(_CHARGE_OF_REFUND, refund_id)
    return charge_id


async def lock_unsent_refunds(uow: UnitOfWork, charge_id: UUID) -> list[UnsentRefund]:
    """Refunds of the charge that have not left, oldest first, held so that none is sent meanwhile."""
    rows = await uow.fetch(_LOCK_UNSENT, charge_id, list(UNSENT_STATUSES))
    return [UnsentRefund(row["id"], row["amount_minor"]) for row in rows]


async def list_waiting_refunds(uow: UnitOfWork, charge_id: UUID) -> list[UUID]:
    return [row["id"] for row in await uow.fetch(_WAITING, charge_id)]


async def claim_refund_parts(uow: UnitOfWork, chargeback_id: UUID) -> list[UnsentRefund]:
    """What the chargeback stood in for, by refund; from now on it stands in for nothing."""
    rows = await uow.fetch(_LIST_PARTS, chargeback_id)
    await uow.execute(_REMOVE_PARTS, chargeback_id)
    return [UnsentRefund(row["refund_id"], row["amount_minor"]) for row in rows]


async def reduce_refund(uow: UnitOfWork, refund: UnsentRefund) -> None:
    await uow.execute(_REDUCE_REFUND, refund.id, refund.amount_minor)


def _chargeback(row: asyncpg.Record) -> Chargeback:
    locked, released = (
        Parts(row[f"{kind}_vendor_minor"], row[f"{kind}_commission_minor"], row[f"{kind}_delivery_fee_minor"])
        for kind in ("locked", "released")
    )
    take = ChargebackAllocation((), locked, released, row["loss_minor"])
    return Chargeback(row["id"], row["amount_minor"], row["currency"], row["status"], take)


def _amounts(take: ChargebackAllocation) -> tuple[int, ...]:
    return (*_parts(take.from_locked, take.from_released), take.loss_minor)


def _parts(locked: Parts, released: Parts) -> tuple[int, ...]:
    return (
        locked.vendor_minor,
        locked.commission_minor,
        locked.delivery_fee_minor,
        released.vendor_minor,
        released.commission_minor,
        released.delivery_fee_minor,
    )
