"""Record a won chargeback: an earlier loss is reversed, and waiting refunds resume (contract section 7)."""

from dataclasses import replace
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import ChargeDisputed
from payments.domain import chargeback_postings
from payments.domain.chargebacks import ChargebackAllocation, DisputedCharge, UnsentRefund
from payments.domain.identifiers import refund_of_reversal, release_of_won_chargeback
from payments.domain.refunds import NewRefund
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder, save_charged_back
from payments.use_cases.chargebacks.alert_chargeback import alert_chargeback
from payments.use_cases.escrow.describe_escrow import describe_escrow
from payments.use_cases.escrow.release_escrow import release_escrow
from payments.use_cases.refunds.create_refund import create_refund
from payments.use_cases.refunds.resume_refunds import resume_refunds
from payments.use_cases.statements.sign_movement import sign_movement


async def record_chargeback_won(
    uow: UnitOfWork, chargeback: Chargeback, charge: DisputedCharge, held: HeldOrder | None, now: datetime
) -> None:
    """Post `chargeback_won` after a loss; an open chargeback has no posting to reverse.

    A refund that the loss replaced is created again, because the bank has debited that money to the payer. Escrow that
    returns to a finished order is released to its vendor at once, because no other release follows.
    """
    allocation = chargeback.allocation
    loss = await chargebacks.count_losses(uow, chargeback.id)
    recreated = await _recreate_refunds(uow, chargeback, loss, charge, held, now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    if chargeback.status == "lost":
        posting = chargeback_postings.chargeback_won(
            chargeback.id, loss, order_id, vendor_id, charge.currency, allocation, recreated
        )
        await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, chargeback, "won", chargeback.amount_minor, ChargebackAllocation(), now)
    if held is not None:
        after = replace(
            held.escrow,
            locked=held.escrow.locked.plus(allocation.from_locked),
            released=held.escrow.released.plus(allocation.from_released),
        )
        await save_charged_back(uow, held.order_id, after, -allocation.from_order_minor)
        to_vendor_minor = allocation.from_released.vendor_minor
        statement = await sign_movement(uow, held.vendor_id, f"chargeback:{chargeback.id}:won", to_vendor_minor)
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=chargeback.amount_minor,
                outcome="won",
                chargeback_id=chargeback.id,
                to_vendor_minor=to_vendor_minor,
                to_commission_minor=allocation.from_released.commission_minor,
                to_delivery_fee_minor=allocation.from_released.delivery_fee_minor,
                remaining_minor=after.locked.total_minor,
                remaining_vendor_minor=after.locked.vendor_minor,
                statement=statement,
                escrow=describe_escrow(held, after),
                number=held.number,
            )
        )
        if allocation.from_locked.total_minor:
            cause = await chargebacks.find_final_release_cause(uow, held.order_id)
            if cause is not None:
                release_id = release_of_won_chargeback(chargeback.id, loss)
                restored = replace(held, escrow=after)
                await release_escrow(uow, restored, release_id, after.locked.total_minor, cause, now)
    alert_chargeback(uow, chargeback.id, "won", charge, chargeback.amount_minor)
    await resume_refunds(uow, charge.id)


async def _recreate_refunds(
    uow: UnitOfWork, chargeback: Chargeback, loss: int, charge: DisputedCharge, held: HeldOrder | None, now: datetime
) -> list[UnsentRefund]:
    recreated = []
    for part in await chargebacks.claim_refund_parts(uow, chargeback.id):
        refund = NewRefund(
            id=refund_of_reversal(chargeback.id, loss, part.id),
            # Not of kind `order`: orders has recorded the order's refund already.
            kind="overpayment",
            charge_id=charge.id,
            order_id=charge.order_id,
            buyer_id=held.buyer_id if held else None,
            amount_minor=part.amount_minor,
            reason="chargeback_won",
            currency=charge.currency,
        )
        await create_refund(uow, refund, now)
        recreated.append(UnsentRefund(refund.id, part.amount_minor))
    return recreated
