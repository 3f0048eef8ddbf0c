"""SQL for the escrow of each order and its releases."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.outbox import Writes
from common.database.parameters import with_places_after
from common.database.state_changes import StateChanged, states_before
from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Effect, Posting
from contracts.payments import EscrowHeld, EscrowReleased
from payments.domain import balances
from payments.domain.balances import PaidBy
from payments.domain.charges import CoveringPayment
from payments.domain.escrow import Escrow, Parts, Release
from payments.domain.transitions import PAYMENT
from payments.store.charges import PayableOrders


@dataclass(frozen=True, slots=True)
class HeldOrder:
    """The escrow of an order with its parties, its row locked until the unit of work ends."""

    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    charge_id: UUID | None
    dispute_sequence: int
    escrow: Escrow
    held_minor: int
    held_at: datetime
    number: str | None
    paid: PaidBy

    @property
    def returned_minor(self) -> int:
        """Return the amount that refunds and chargebacks have debited to the order, in kobo."""
        return self.held_minor - self.escrow.locked.total_minor - self.escrow.released.total_minor

    @property
    def lock_key(self) -> tuple[str, str]:
        """Sorts orders as `lock_by` does (decision 102)."""
        return str(self.vendor_id), str(self.order_id)


_RECORD_ESCROWS: Final = Writes(
    f"""
listed AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $11::bigint[], $12::bigint[])
        AS listed (order_id, vendor_id, vendor_minor, commission_minor, delivery_fee_minor, rewards_minor,
            refunds_minor)
), held AS (
    INSERT INTO escrows (order_id, buyer_id, vendor_id, charge_id, held_minor, locked_vendor_minor,
                         locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
                         released_commission_minor, released_delivery_fee_minor, refunded_minor, dispute_sequence,
                         held_at, balance_minor, rewards_minor)
    SELECT order_id, $6, vendor_id, $7, vendor_minor + commission_minor + delivery_fee_minor, vendor_minor,
           commission_minor, delivery_fee_minor, 0, 0, 0, 0, 0, $8, rewards_minor + refunds_minor, rewards_minor
           FROM listed
), paid AS (
    UPDATE payable_orders SET status = 'paid_escrow'
    WHERE id = ANY ($1) AND status IN ('Processing', 'cancelled', 'expired') RETURNING id
), marked AS (
UPDATE payment_intents SET
    status = CASE WHEN id = $9 THEN 'paid' ELSE 'closed' END,
    paid_at = CASE WHEN id = $9 THEN $8 ELSE paid_at END,
    channel = CASE WHEN id = $9 THEN coalesce($10, channel) ELSE channel END,
    opening_until = NULL
WHERE (SELECT count(*) FROM paid) = cardinality($1)
  AND (id = $9 AND status IN {states_before(PAYMENT, "charged")}
       OR id IN (SELECT id FROM payment_intents WHERE order_id = ANY ($1)
                 UNION ALL SELECT intent_id FROM intent_orders WHERE order_id = ANY ($1))
          AND status IN {states_before(PAYMENT, "order_paid")})
RETURNING id, status, balance_minor
)
""",
    """
EXISTS (SELECT FROM marked) AS is_recorded,
ARRAY (SELECT id FROM marked WHERE status = 'closed' AND balance_minor <> 0 ORDER BY id) AS closed_ids
""",
)
_VALUES_OF_ESCROWS: Final = 12
# The lock serializes releases, refunds and the freeze of one order.
_LOCK_ESCROW: Final = """
SELECT order_id, buyer_id, vendor_id, charge_id, dispute_sequence, locked_vendor_minor, locked_commission_minor,
       locked_delivery_fee_minor, released_vendor_minor, released_commission_minor, released_delivery_fee_minor,
       refunded_minor, disputed_at, held_minor, held_at, balance_minor, rewards_minor, balance_refunded_minor,
       rewards_refunded_minor,
       (SELECT number FROM payable_orders WHERE id = order_id) AS number
FROM escrows WHERE order_id = $1 FOR UPDATE
"""
_POSITION: Final = "(SELECT position FROM purchase_orders listed WHERE listed.order_id = escrows.order_id) AS position"
# In the order of `lock_by` (decision 102).
_LOCK_ESCROWS_OF_CHARGE: Final = _LOCK_ESCROW.replace(
    "FROM escrows WHERE order_id = $1",
    f""", {_POSITION}
FROM escrows WHERE charge_id = $1 ORDER BY vendor_id, order_id""",
)
_LIST_ORDERS_AFTER: Final = """
SELECT order_id FROM escrows WHERE $1::uuid IS NULL OR order_id > $1 ORDER BY order_id LIMIT $2
"""
_SAVE_ESCROW: Final = """
UPDATE escrows SET locked_vendor_minor = $2, locked_commission_minor = $3, locked_delivery_fee_minor = $4,
    released_vendor_minor = $5, released_commission_minor = $6, released_delivery_fee_minor = $7, refunded_minor = $8
WHERE order_id = $1
"""
# One statement, because a constraint adds up the row's amounts. Staff who release have no right to
# `charged_back_minor`.
_SAVE_CHARGED_BACK: Final = _SAVE_ESCROW.replace("WHERE", ", charged_back_minor = charged_back_minor + $9 WHERE")
_SAVE_TO_BALANCE: Final = """
UPDATE escrows SET balance_refunded_minor = balance_refunded_minor + $2::bigint + $3::bigint,
    rewards_refunded_minor = rewards_refunded_minor + $2
WHERE order_id = $1
"""
_SAVE_DISPUTE: Final = "UPDATE escrows SET disputed_at = $2, dispute_sequence = $3 WHERE order_id = $1"
_SAVE_RELEASE: Final = Writes(
    f"""
saved AS ({_SAVE_ESCROW} RETURNING order_id), recorded AS (
    INSERT INTO releases (id, order_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, cause,
                          released_by, released_at)
    VALUES ($9, $1, $10, $11, $12, $13, $14, $15, $16)
)
""",
    "EXISTS (SELECT FROM saved) AS is_saved",
)


async def find_released_minor(uow: UnitOfWork, release_id: UUID) -> int:
    """Return the gross amount of a release, in kobo."""
    return int(await uow.fetch_value("SELECT gross_minor FROM releases WHERE id = $1", release_id))


class HeldMoney(NamedTuple):
    """The posting of the money that escrows hold, its charge's record, and the event of a single order."""

    posting: Posting | None
    recorded_charge: Effect | None
    event: EscrowHeld | None


async def record_escrows(
    uow: UnitOfWork,
    payable: PayableOrders,
    payment: CoveringPayment,
    escrows: Sequence[Escrow],
    now: datetime,
    money: HeldMoney,
) -> list[UUID]:
    """Record the escrows of the unpaid orders, mark them and their intent paid, and close their other live intents.
    The money is recorded in the same round trip.

    Return the closed intents with a part of the balance. Raises StateChanged, and as `ledger.post`.
    """
    orders = payable.unpaid
    paid_parts = [payment.shares.get(order.order_id, balances.NO_PARTS) for order in orders]
    writes, charge = _RECORD_ESCROWS, money.recorded_charge
    values: Sequence[object] = (
        [order.order_id for order in orders],
        [order.vendor_id for order in orders],
        *([escrow.locked[part] for escrow in escrows] for part in range(3)),
        orders[0].buyer_id,
        payment.charge_id,
        now,
        payable.intent_id,
        payment.channel,
        [part.rewards_minor for part in paid_parts],
        [part.refunds_minor for part in paid_parts],
    )
    if charge is not None:
        writes, values = _with_charge(charge.statement), (*values, *charge.values)
    if money.posting is not None:
        writes, values = ledger.with_posting(writes, values, money.posting)
    try:
        with ledger.posting_errors():
            recorded = await uow.fetch_row_and_publish(writes, *values, event=money.event)
    except asyncpg.ForeignKeyViolationError as error:
        if error.constraint_name == "escrows_charge":
            raise StateChanged(f"the charge of reference {payment.reference} is recorded already") from error
        raise
    if not recorded["is_recorded"]:
        raise StateChanged(f"one of the orders {[order.order_id for order in orders]} or their intent is paid already")
    return list(recorded["closed_ids"])


@cache
def _with_charge(statement: str) -> Writes:
    charge = with_places_after(_VALUES_OF_ESCROWS, statement)
    return Writes(f"charge AS ({charge}), {_RECORD_ESCROWS.tables}", _RECORD_ESCROWS.result)


async def lock_escrow(uow: UnitOfWork, order_id: UUID) -> HeldOrder | None:
    row = await uow.fetch_row(_LOCK_ESCROW, order_id)
    return None if row is None else _held_order(row)


async def lock_escrows_of_charge(uow: UnitOfWork, charge_id: UUID) -> list[HeldOrder]:
    """Return the orders that the charge paid, in the order of their purchase."""
    rows = await uow.fetch(_LOCK_ESCROWS_OF_CHARGE, charge_id)
    return [_held_order(row) for row in sorted(rows, key=lambda row: row["position"] or 0)]


def _held_order(row: asyncpg.Record) -> HeldOrder:
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
        PaidBy(
            balances.Parts(row["rewards_minor"], row["balance_minor"] - row["rewards_minor"]),
            balances.Parts(
                row["rewards_refunded_minor"], row["balance_refunded_minor"] - row["rewards_refunded_minor"]
            ),
        ),
    )


async def list_held_orders_after(uow: UnitOfWork, last_id: UUID | None, limit: int) -> list[UUID]:
    """At most `limit` orders with an escrow, in order of their ids, after `last_id`."""
    return [order_id for (order_id,) in await uow.fetch(_LIST_ORDERS_AFTER, last_id, limit)]


async def save_charged_back(uow: UnitOfWork, order_id: UUID, escrow: Escrow, change_minor: int) -> None:
    """Save the escrow, and add a change in kobo to the amount that banks charged back of the order."""
    amounts = (*escrow.locked, *escrow.released, escrow.refunded_minor)
    await uow.execute(_SAVE_CHARGED_BACK, order_id, *amounts, change_minor)


async def save_to_balance(uow: UnitOfWork, order_id: UUID, parts: balances.Parts) -> None:
    """Add what a refund of the order credited to its buyer's balance."""
    await uow.execute(_SAVE_TO_BALANCE, order_id, *parts)


async def save_dispute(uow: UnitOfWork, order_id: UUID, disputed_at: datetime | None, sequence: int) -> None:
    await uow.execute(_SAVE_DISPUTE, order_id, disputed_at, sequence)


async def save_release(
    uow: UnitOfWork, release: Release, cause: str, released_by: UUID | None, now: datetime, event: EscrowReleased
) -> None:
    """Record a release, save the escrow that is left after it, and publish the release, in one round trip."""
    parts, after = release.parts, release.after
    await uow.fetch_row_and_publish(
        _SAVE_RELEASE,
        event.order_id,
        *after.locked,
        *after.released,
        after.refunded_minor,
        event.release_id,
        parts.total_minor,
        parts.commission_minor,
        parts.delivery_fee_minor,
        parts.vendor_minor,
        cause,
        released_by,
        now,
        event=event,
    )
