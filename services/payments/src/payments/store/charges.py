"""SQL for charges and for the orders that they pay."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

import asyncpg

from common.database.state_changes import StateChanged, allows_change
from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Effect
from common.primitives.ids import new_id
from payments.domain.charges import NO_SURCHARGE, Charge, ExpectedPayment, QuarantineReason, Surcharge
from payments.domain.transitions import PAYMENT


class PayableOrder(NamedTuple):
    """An order of one of our references, its row locked until the unit of work ends. Amounts in kobo."""

    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    total_minor: int
    commission_minor: int
    delivery_fee_minor: int
    is_paid: bool
    number: str | None
    purchase_id: UUID | None


@dataclass(frozen=True, slots=True)
class PayableOrders:
    """The orders that the intent of one of our references asks for, in the order of their purchase.

    `balance_minor` is the part of the intent that the buyer's balance was to pay, in kobo.
    """

    intent_id: UUID
    orders: tuple[PayableOrder, ...]
    expected: ExpectedPayment
    balance_minor: int = 0

    @property
    def unpaid(self) -> tuple[PayableOrder, ...]:
        return tuple(order for order in self.orders if not order.is_paid)

    @property
    def first(self) -> PayableOrder:
        """The order that stands for all of them: the first unpaid one, which this charge covers."""
        return (self.unpaid or self.orders)[0]

    @property
    def unpaid_totals_minor(self) -> dict[UUID, int]:
        return {order.order_id: order.total_minor for order in self.unpaid}


# Locks in the order of `lock_by` (decision 102).
_LOCK_PAYABLE_ORDERS: Final = """
SELECT o.id, o.buyer_id, o.vendor_id, o.total_minor, o.commission_minor, o.delivery_fee_minor,
       o.status = 'paid_escrow', o.number, o.purchase_id, i.id AS intent_id, r.settlement, named.position,
       i.balance_minor, CASE WHEN r.reference = i.reference THEN i.transfer_amount_minor END AS transfer_minor,
       ARRAY (SELECT listed.order_id FROM purchase_orders listed WHERE listed.purchase_id = o.purchase_id) AS listed_ids
FROM payment_references r
JOIN payment_intents i ON i.id = r.intent_id
LEFT JOIN intent_orders named ON named.intent_id = i.id
JOIN payable_orders o ON o.id = coalesce(named.order_id, i.order_id)
WHERE r.reference = $1
ORDER BY o.vendor_id, o.id
FOR UPDATE OF o
"""
# Without the gateway's id a charge is indistinguishable from another one under the same reference: it counts as a
# repetition.
_IS_KNOWN: Final = """
EXISTS (SELECT FROM charges WHERE identity = {0} OR (reference = {1} AND (gateway_id IS NULL OR {2}::text IS NULL)))
"""
_CHARGE_KNOWN: Final = f"SELECT {_IS_KNOWN.format('$1', '$2', '$3')}"
_LOCK_CHARGED_ORDERS: Final = f"""
WITH locked AS MATERIALIZED ({_LOCK_PAYABLE_ORDERS})
SELECT locked.*, {_IS_KNOWN.format("$2", "$1", "$3")} AS is_known FROM (VALUES (1)) AS one LEFT JOIN locked ON true
"""
_FEE_MISSING: Final = """
SELECT EXISTS (SELECT FROM charges WHERE identity = $1)
   AND NOT EXISTS (SELECT FROM ledger_transactions WHERE posting_key = 'gateway_fee:' || $1)
"""
# A charge that was recorded since it was looked up is not recorded again.
_RECORD_CHARGE: Final = f"""
INSERT INTO charges (id, identity, reference, gateway_id, webhook_id, order_id, amount_minor, currency, channel,
                     verdict, settled_at, surcharge_minor, surcharge_max_minor, gateway)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 WHERE NOT {_IS_KNOWN.format("$2", "$3", "$4")}
"""
_SAVE_INTENT_SPENT: Final = f"""
UPDATE payment_intents SET status = $2, opening_until = NULL WHERE id = $1 AND {allows_change(PAYMENT, "$2")}
"""
_SAVE_RECEIVED: Final = "UPDATE payment_intents SET received_minor = coalesce(received_minor, 0) + $2 WHERE id = $1"
_RECORD_QUARANTINED: Final = """
INSERT INTO quarantined_charges (id, charge_id, reference, order_id, amount_minor, currency, reason, status, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'quarantined', $8)
"""


async def lock_payable_orders(uow: UnitOfWork, reference: str) -> PayableOrders | None:
    """Return the locked orders of a reference: of two concurrent charges exactly one covers them."""
    rows = await uow.fetch(_LOCK_PAYABLE_ORDERS, reference)
    return _payable_orders(rows) if rows else None


async def lock_charged_orders(uow: UnitOfWork, charge: Charge) -> tuple[PayableOrders | None, bool]:
    """Return the locked orders of the charge's reference, and whether the charge was known before the wait for them."""
    rows = await uow.fetch(_LOCK_CHARGED_ORDERS, charge.reference, charge.identity, charge.gateway_id)
    return _payable_orders(rows) if rows[0]["id"] is not None else None, rows[0]["is_known"]


def _payable_orders(rows: list[asyncpg.Record]) -> PayableOrders:
    rows = sorted(rows, key=lambda row: row["position"] or 0)
    orders = tuple(PayableOrder(*row[:9]) for row in rows)
    expected = ExpectedPayment(
        frozenset([*(order.order_id for order in orders), *rows[0]["listed_ids"]]),
        sum(order.total_minor for order in orders),
        sum(order.total_minor for order in orders if not order.is_paid),
        rows[0]["settlement"],
        rows[0]["transfer_minor"],
    )
    return PayableOrders(rows[0]["intent_id"], orders, expected, rows[0]["balance_minor"])


async def charge_is_known(uow: UnitOfWork, charge: Charge) -> bool:
    return bool(await uow.fetch_value(_CHARGE_KNOWN, charge.identity, charge.reference, charge.gateway_id))


async def fee_is_missing(uow: UnitOfWork, identity: str) -> bool:
    """Return whether the charge is recorded without a fee."""
    return bool(await uow.fetch_value(_FEE_MISSING, identity))


class NewCharge(NamedTuple):
    """The id of a charge, and the statement that records it unless the charge is known."""

    id: UUID
    record: Effect


def new_charge(
    charge: Charge,
    webhook_id: str,
    order_id: UUID | None,
    verdict: str,
    now: datetime,
    surcharge: Surcharge = NO_SURCHARGE,
) -> NewCharge:
    """Return the record of a charge, to be written with its posting."""
    charge_id = new_id()
    values = (
        charge_id,
        charge.identity,
        charge.reference,
        charge.gateway_id,
        webhook_id,
        order_id,
        charge.amount_minor,
        charge.currency,
        charge.channel,
        verdict,
        now,
        *surcharge,
        charge.gateway,
    )
    return NewCharge(charge_id, Effect(_RECORD_CHARGE, values))


async def record_charge(
    uow: UnitOfWork,
    charge: Charge,
    webhook_id: str,
    order_id: UUID | None,
    verdict: str,
    now: datetime,
) -> UUID:
    """Record a charge and return its id. Raises StateChanged when it was recorded meanwhile."""
    new = new_charge(charge, webhook_id, order_id, verdict, now)
    if not await uow.execute(new.record.statement, *new.record.values):
        raise StateChanged(f"charge {charge.identity} is recorded already")
    return new.id


async def save_intent_spent(uow: UnitOfWork, intent_id: UUID, status: Literal["quarantined", "overpaid"]) -> None:
    """Mark the intent's transaction as used up. A paid intent stays paid: the gateway reports another charge of its
    reference.
    """
    await uow.execute(_SAVE_INTENT_SPENT, intent_id, status)


async def save_received(uow: UnitOfWork, intent_id: UUID, amount_minor: int) -> None:
    """Add a quarantined charge, in kobo, to what the buyer is shown of the payment."""
    await uow.execute(_SAVE_RECEIVED, intent_id, amount_minor)


async def record_quarantined(
    uow: UnitOfWork, charge_id: UUID, charge: Charge, order_id: UUID | None, reason: QuarantineReason, now: datetime
) -> UUID:
    quarantined_id = new_id()
    await uow.execute(
        _RECORD_QUARANTINED,
        quarantined_id,
        charge_id,
        charge.reference,
        order_id,
        charge.amount_minor,
        charge.currency,
        reason,
        now,
    )
    return quarantined_id
