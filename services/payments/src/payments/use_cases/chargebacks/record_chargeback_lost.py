"""Record a lost chargeback: post the loss to the accounts that bear it (contract section 7)."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ChargeDisputed
from payments.domain import chargeback_postings
from payments.domain.chargebacks import DisputedCharge, allocate_chargeback
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder
from payments.use_cases.alerts import alert_chargeback
from payments.use_cases.chargebacks.debit_order import debit_order
from payments.use_cases.escrow.describe_escrow import describe_escrow
from payments.use_cases.refunds.resume_refunds import resume_refunds
from payments.use_cases.statements.sign_movement import sign_movement


async def record_chargeback_lost(
    uow: UnitOfWork,
    chargeback: Chargeback,
    charge: DisputedCharge,
    held: HeldOrder | None,
    amount_minor: int,
    now: datetime,
) -> None:
    """Post the loss, also after an earlier win. Unsent refunds count as returned by the bank, so that no money is returned twice.

    A submitted refund cannot be recalled. The uncovered amount is then a loss, which a later failure of the refund offsets.
    """
    refunds = await chargebacks.lock_unsent_refunds(uow, charge.id)
    allocation = allocate_chargeback(amount_minor, refunds, held.escrow if held else None)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    loss = await chargebacks.count_losses(uow, chargeback.id) + 1
    posting = chargeback_postings.chargeback(chargeback.id, loss, order_id, vendor_id, charge.currency, allocation)
    after = await debit_order(uow, chargeback, held, allocation, amount_minor, posting, now)
    if held is not None and after is not None:
        from_vendor_minor = allocation.from_released.vendor_minor
        source = f"chargeback:{chargeback.id}:lost"
        statement = await sign_movement(uow, held.vendor_id, source, -from_vendor_minor)
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=amount_minor,
                outcome="lost",
                chargeback_id=chargeback.id,
                from_vendor_minor=from_vendor_minor,
                from_commission_minor=allocation.from_released.commission_minor,
                from_delivery_fee_minor=allocation.from_released.delivery_fee_minor,
                remaining_minor=after.locked.total_minor,
                remaining_vendor_minor=after.locked.vendor_minor,
                statement=statement,
                escrow=describe_escrow(held, after),
                number=held.number,
            )
        )
    alert_chargeback(uow, chargeback.id, "lost", charge, amount_minor, allocation.loss_minor)
    await resume_refunds(uow, charge.id)
