"""Record a won chargeback: an earlier loss is reversed, and waiting refunds resume (contract section 7)."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import ChargeDisputed
from payments.domain import chargeback_postings
from payments.domain.chargebacks import ChargebackAllocation, DisputedCharge
from payments.domain.identifiers import won_chargeback_release_id
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder
from payments.use_cases.alerts import alert_chargeback
from payments.use_cases.chargebacks.recreate_refunds import recreate_refunds
from payments.use_cases.chargebacks.release_returned import release_returned
from payments.use_cases.chargebacks.return_to_order import return_to_order
from payments.use_cases.escrow.describe_escrow import describe_escrow
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
    recreated = await recreate_refunds(uow, chargeback, loss, charge, held, "chargeback_won", now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    if chargeback.status == "lost":
        posting = chargeback_postings.chargeback_won(
            chargeback.id, loss, order_id, vendor_id, charge.currency, allocation, recreated
        )
        await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, chargeback, "won", chargeback.amount_minor, ChargebackAllocation(), now)
    if held is not None:
        after = await return_to_order(uow, held, allocation)
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
        await release_returned(uow, held, after, allocation, won_chargeback_release_id(chargeback.id, loss), now)
    alert_chargeback(uow, chargeback.id, "won", charge, chargeback.amount_minor)
    await resume_refunds(uow, charge.id)
