"""SQL for charges and for the orders that they pay."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from common.database.state_changes import allows_change
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.domain.charges import Charge, ExpectedPayment, QuarantineReason
from payments.domain.transitions import PAYMENT


@dataclass(frozen=True, slots=True)
class PayableOrder:
    """The order of one of our references, its row locked until the unit of work ends. Amounts in kobo."""

    intent_id: UUID
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    commission_minor: int
    delivery_fee_minor: int
    expected: ExpectedPayment
    number: str | None


_LOCK_PAYABLE_ORDER: Final = """
SELECT i.id AS intent_id, r.settlement, o.id, o.buyer_id, o.vendor_id, o.total_minor, o.commission_minor,
       o.delivery_fee_minor, o.status, o.number
FROM payment_references r
JOIN payment_intents i ON i.id = r.intent_id
JOIN payable_orders o ON o.id = i.order_id
WHERE r.reference = $1
FOR UPDATE OF o
"""
# Without the gateway's id a charge is indistinguishable from another one under the same reference: it counts as a repetition.
_CHARGE_KNOWN: Final = """
SELECT EXISTS (
    SELECT FROM charges WHERE identity = $1 OR (reference = $2 AND (gateway_id IS NULL OR $3::text IS NULL))
)
"""
_FEE_MISSING: Final = """
SELECT EXISTS (SELECT FROM charges WHERE identity = $1)
   AND NOT EXISTS (SELECT FROM ledger_transactions WHERE posting_key = 'gateway_fee:' || $1)
"""
_RECORD_CHARGE: Final = """
INSERT INTO charges (id, identity, reference, gateway_id, webhook_id, order_id, amount_minor, currency, channel, verdict,
                     settled_at, surcharge_minor, surcharge_max_minor, gateway)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
"""
_SAVE_INTENT_SPENT: Final = f"""
UPDATE payment_intents SET status = $2, opening_until = NULL WHERE id = $1 AND {allows_change(PAYMENT, "$2")}
"""
_RECORD_QUARANTINED: Final = """
INSERT INTO quarantined_charges (id, charge_id, reference, order_id, amount_minor, currency, reason, status, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'quarantined', $8)
"""


async def lock_payable_order(uow: UnitOfWork, reference: str) -> PayableOrder | None:
    """Return the locked order of a reference: of two concurrent charges exactly one covers it."""
    row = await uow.fetch_row(_LOCK_PAYABLE_ORDER, reference)
    if row is None:
        return None
    intent_id, settlement, order_id, buyer_id, vendor_id, total, commission, delivery_fee, status, number = row
    expected = ExpectedPayment(order_id, total, settlement, status == "paid_escrow")
    return PayableOrder(intent_id, order_id, buyer_id, vendor_id, commission, delivery_fee, expected, number)


async def charge_is_known(uow: UnitOfWork, charge: Charge) -> bool:
    return bool(await uow.fetch_value(_CHARGE_KNOWN, charge.identity, charge.reference, charge.gateway_id))


async def fee_is_missing(uow: UnitOfWork, identity: str) -> bool:
    """Return whether the charge is recorded without a fee."""
    return bool(await uow.fetch_value(_FEE_MISSING, identity))


async def record_charge(
    uow: UnitOfWork,
    charge: Charge,
    webhook_id: str,
    order_id: UUID | None,
    verdict: str,
    now: datetime,
    surcharge_minor: int = 0,
    surcharge_max_minor: int = 0,
) -> UUID:
    """Record a charge and return its id. A surcharge keeps the bound of its time, because settings change."""
    charge_id = new_id()
    await uow.execute(
        _RECORD_CHARGE,
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
        surcharge_minor,
        surcharge_max_minor,
        charge.gateway,
    )
    return charge_id


async def save_intent_spent(uow: UnitOfWork, intent_id: UUID, status: Literal["quarantined", "overpaid"]) -> None:
    """Mark the intent's transaction as used up. A paid intent stays paid: the gateway reports another charge of its reference."""
    await uow.execute(_SAVE_INTENT_SPENT, intent_id, status)


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
