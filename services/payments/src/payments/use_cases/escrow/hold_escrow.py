"""Hold the money of an order that a charge covers, and say so."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.payments import EscrowHeld
from payments import store
from payments.domain import escrow
from payments.store import PayableOrder


async def hold_escrow(
    uow: UnitOfWork,
    behind: PayableOrder,
    charge_id: UUID,
    reference: str,
    escrow_minor: int,
    channel: str | None,
    now: datetime,
) -> None:
    """The locked order becomes paid, its intent too; `escrow_minor` is its total in kobo. The posting is the caller's."""
    held = escrow.held(escrow_minor, behind.commission_minor, behind.delivery_fee_minor)
    await store.record_escrow(uow, behind, charge_id, held, now)
    await store.save_order_status(uow, behind.order_id, "paid_escrow")
    await store.save_intent_paid(uow, behind.intent_id, now, channel)
    await store.close_live_intents(uow, behind.order_id)
    uow.publish(
        EscrowHeld(
            order_id=behind.order_id,
            buyer_id=behind.buyer_id,
            vendor_id=behind.vendor_id,
            amount_minor=escrow_minor,
            commission_minor=behind.commission_minor,
            delivery_fee_minor=behind.delivery_fee_minor,
            reference=reference,
            held_at=iso(now),
        )
    )
