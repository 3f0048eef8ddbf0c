"""SQL for the escrow of each order and its releases."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.state_changes import StateChanged, states_before
from common.database.unit_of_work import UnitOfWork
from payments.domain.escrow import Escrow, Parts
from payments.domain.transitions import PAYMENT
from payments.store.charges import PayableOrder


@dataclass(frozen=True, slots=True)
class HeldOrder:
    """The escrow of an order with its parties, its row locked until the unit of work ends."""

    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    charge_id: UUID
    dispute_sequence: int
    escrow: Escrow
    held_minor: int
    held_at: datetime
    number: str | None


_RECORD_ESCROW: Final = f"""
WITH held AS (
    INSERT INTO escrows (order_id, buyer_id, vendor_id, charge_id, held_minor, locked_vendor_minor, locked_commission_minor,
                         locked_delivery_fee_minor, released_vendor_minor, released_commission_minor,
                         released_delivery_fee_minor, refunded_minor, dispute_sequence, held_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0, 0, 0, $9)
), paid AS (
    UPDATE payable_orders SET status = 'paid_escrow' WHERE id = $1 AND status IN ('Processing', 'cancelled', 'expired') RETURNING id
)
UPDATE payment_intents SET
    status = CASE WHEN id = $10 THEN 'paid' ELSE 'closed' END,
    paid_at = CASE WHEN id = $10 THEN $9 ELSE paid_at END,
    channel = CASE WHEN id = $10 THEN coalesce($11, channel) ELSE channel END,
    opening_until = NULL
WHERE EXISTS (SELECT FROM paid)
  AND (id = $10 AND status IN {states_before(PAYMENT, "charged")}
       OR order_id = $1 AND status IN {states_before(PAYMENT, "order_paid")})
"""
# The lock serializes releases, refunds and the freeze of one order.
_LOCK_ESCROW: Final = """
SELECT order_id, buyer_id, vendor_id, charge_id, dispute_sequence, locked_vendor_minor, locked_commission_minor,
       locked_delivery_fee_minor, released_vendor_minor, released_commission_minor, released_delivery_fee_minor,
       refunded_minor, disputed_at, held_minor, held_at,
       (SELECT number FROM payable_orders WHERE id = order_id) AS number
FROM escrows WHERE order_id = $1 FOR UPDATE
"""
_LIST_ORDERS_AFTER: Final = """
SELECT order_id FROM escrows WHERE $1::uuid IS NULL OR order_id > $1 ORDER BY order_id LIMIT $2
"""
_SAVE_ESCROW: Final = """
UPDATE escrows SET locked_vendor_minor = $2, locked_commission_minor = $3, locked_delivery_fee_minor = $4,
    released_vendor_minor = $5, released_commission_minor = $6, released_delivery_fee_minor = $7, refunded_minor = $8
WHERE order_id = $1
"""
# One statement, because a constraint adds up the row's amounts. Staff who release have no right to `charged_back_minor`.
_SAVE_CHARGED_BACK: Final = _SAVE_ESCROW.replace("WHERE", ", charged_back_minor = charged_back_minor + $9 WHERE")
_SAVE_DISPUTE: Final = "UPDATE escrows SET disputed_at = $2, dispute_sequence = $3 WHERE order_id = $1"
_SAVE_RELEASE: Final = f"""
WITH saved AS ({_SAVE_ESCROW})
INSERT INTO releases (id, order_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, cause, released_by,
                      released_at)
VALUES ($9, $1, $10, $11, $12, $13, $14, $15, $16)
"""


async def find_released_minor(uow: UnitOfWork, release_id: UUID) -> int:
    """Return the gross amount of a release, in kobo."""
    return int(await uow.fetch_value("SELECT gross_minor FROM releases WHERE id = $1", release_id))


async def record_escrow(
    uow: UnitOfWork, order: PayableOrder, charge_id: UUID, escrow: Escrow, channel: str | None, now: datetime
) -> None:
    """Record the escrow of the locked order, mark the order and its intent paid, and close its other live intents."""
    parties = (order.order_id, order.buyer_id, order.vendor_id)
    amounts = (escrow.locked.total_minor, *escrow.locked)
    if not await uow.execute(_RECORD_ESCROW, *parties, charge_id, *amounts, now, order.intent_id, channel):
        raise StateChanged(f"the order {order.order_id} or its intent is paid already")


async def lock_escrow(uow: UnitOfWork, order_id: UUID) -> HeldOrder | None:
    row = await uow.fetch_row(_LOCK_ESCROW, order_id)
    if row is None:
        return None
    escrow = Escrow(Parts(*row[5:8]), Parts(*row[8:11]), row["refunded_minor"], row["disputed_at"] is not None)
    return HeldOrder(
        row["order_id"],
        row["buyer_id"],
        row["vendor_id"],
        row["charge_id"],
        row["dispute_sequence"],
        escrow,
        row["held_minor"],
        row["held_at"],
        row["number"],
    )


async def list_held_orders_after(uow: UnitOfWork, last_id: UUID | None, limit: int) -> list[UUID]:
    """At most `limit` orders with an escrow, in order of their ids, after `last_id`."""
    return [order_id for (order_id,) in await uow.fetch(_LIST_ORDERS_AFTER, last_id, limit)]


async def save_charged_back(uow: UnitOfWork, order_id: UUID, escrow: Escrow, change_minor: int) -> None:
    """Save the escrow, and add a change in kobo to the amount that banks charged back of the order."""
    amounts = (*escrow.locked, *escrow.released, escrow.refunded_minor)
    await uow.execute(_SAVE_CHARGED_BACK, order_id, *amounts, change_minor)


async def save_dispute(uow: UnitOfWork, order_id: UUID, disputed_at: datetime | None, sequence: int) -> None:
    await uow.execute(_SAVE_DISPUTE, order_id, disputed_at, sequence)


async def save_release(
    uow: UnitOfWork,
    order_id: UUID,
    after: Escrow,
    release_id: UUID,
    parts: Parts,
    cause: str,
    released_by: UUID | None,
    now: datetime,
) -> None:
    """Record a release of `parts`, and save the escrow that is left after it."""
    await uow.execute(
        _SAVE_RELEASE,
        order_id,
        *after.locked,
        *after.released,
        after.refunded_minor,
        release_id,
        parts.total_minor,
        parts.commission_minor,
        parts.delivery_fee_minor,
        parts.vendor_minor,
        cause,
        released_by,
        now,
    )
