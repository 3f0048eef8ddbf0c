"""Lose a chargeback: the gateway took the money, and the book says from whom (contract section 7)."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import ChargeDisputed
from payments.domain import chargeback_postings
from payments.domain.chargebacks import DisputedCharge, allocate_chargeback
from payments.store import HeldOrder, chargebacks
from payments.use_cases.chargebacks.alert_chargeback import alert_chargeback
from payments.use_cases.refunds.record_offset_settled import record_offset_settled
from payments.use_cases.refunds.resume_refunds import resume_refunds
from payments.use_cases.statements.sign_movement import sign_movement


async def record_chargeback_lost(
    uow: UnitOfWork,
    chargeback_id: UUID,
    charge: DisputedCharge,
    held: HeldOrder | None,
    amount_minor: int,
    now: datetime,
) -> None:
    """Posts it once. What we owed the payer and had not sent counts as returned by the bank: the same money never goes back twice.

    A refund under way is beyond our reach: what the order cannot cover then is a loss, and is made good should the refund fail.
    """
    refunds = await chargebacks.lock_unsent_refunds(uow, charge.id)
    take = allocate_chargeback(amount_minor, refunds, held.escrow if held else None)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    await ledger.post(uow, chargeback_postings.chargeback(chargeback_id, order_id, vendor_id, charge.currency, take))
    await chargebacks.save_decision(uow, chargeback_id, "lost", amount_minor, take, now)
    owed = {refund.id: refund.amount_minor for refund in refunds}
    for part in take.from_refunds:
        await record_offset_settled(uow, part, owed[part.id], now)
    if held is not None:
        after = replace(
            held.escrow,
            locked=held.escrow.locked.minus(take.from_locked),
            released=held.escrow.released.minus(take.from_released),
        )
        await chargebacks.save_charged_back(uow, held.order_id, after, take.from_order_minor)
        from_vendor_minor = take.from_released.vendor_minor
        source = f"chargeback:{chargeback_id}:lost"
        statement = await sign_movement(uow, held.vendor_id, source, -from_vendor_minor)
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=amount_minor,
                outcome="lost",
                chargeback_id=chargeback_id,
                from_vendor_minor=from_vendor_minor,
                remaining_minor=after.locked.total_minor,
                remaining_vendor_minor=after.locked.vendor_minor,
                statement=statement,
            )
        )
    alert_chargeback(uow, chargeback_id, "lost", charge, amount_minor, take.loss_minor)
    await resume_refunds(uow, charge.id)
