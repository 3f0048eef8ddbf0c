"""Win a chargeback: what was frozen is free, and what an earlier loss took comes back (contract section 7)."""

from dataclasses import replace
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import ChargeDisputed
from payments import store
from payments.domain import chargeback_postings
from payments.domain.chargebacks import ChargebackAllocation, DisputedCharge, UnsentRefund
from payments.domain.identifiers import refund_of_reversal, release_of_victory
from payments.store import HeldOrder, chargebacks
from payments.store.chargebacks import Chargeback
from payments.use_cases.chargebacks.alert_chargeback import alert_chargeback
from payments.use_cases.charges.create_overpayment_refund import REFUND_QUEUE
from payments.use_cases.escrow.release_escrow import release_escrow
from payments.use_cases.refunds.resume_refunds import resume_refunds
from payments.use_cases.statements.sign_movement import sign_movement


async def record_chargeback_won(
    uow: UnitOfWork, chargeback: Chargeback, charge: DisputedCharge, held: HeldOrder | None, now: datetime
) -> None:
    """Posts `chargeback_won` when the chargeback had been lost before; one that was only open has taken nothing.

    Where a lost one stood in for a refund, the bank has taken that money from the payer again: it is owed under a new refund. What comes
    back to the escrow of an order that was delivered or resolved meanwhile goes on to its vendor: no other release will come.
    """
    take = chargeback.take
    owed_again = await _create_refund_again(uow, chargeback, charge, held, now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    if chargeback.status == "lost":
        await ledger.post(
            uow,
            chargeback_postings.chargeback_won(chargeback.id, order_id, vendor_id, charge.currency, take, owed_again),
        )
    await chargebacks.save_decision(uow, chargeback.id, "won", chargeback.amount_minor, ChargebackAllocation(), now)
    if held is not None:
        after = replace(
            held.escrow,
            locked=held.escrow.locked.plus(take.from_locked),
            released=held.escrow.released.plus(take.from_released),
        )
        await chargebacks.save_charged_back(uow, held.order_id, after, -take.from_order_minor)
        to_vendor_minor = take.from_released.vendor_minor
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
                remaining_minor=after.locked.total_minor,
                remaining_vendor_minor=after.locked.vendor_minor,
                statement=statement,
            )
        )
        ending = await chargebacks.find_ending(uow, held.order_id) if take.from_locked.total_minor else None
        if ending is not None:
            again = replace(held, escrow=after)
            await release_escrow(uow, again, release_of_victory(chargeback.id), after.locked.total_minor, ending, now)
    alert_chargeback(uow, chargeback.id, "won", charge, chargeback.amount_minor)
    await resume_refunds(uow, charge.id)


async def _create_refund_again(
    uow: UnitOfWork, chargeback: Chargeback, charge: DisputedCharge, held: HeldOrder | None, now: datetime
) -> list[UnsentRefund]:
    owed = []
    for part in await chargebacks.claim_refund_parts(uow, chargeback.id):
        refund_id = refund_of_reversal(chargeback.id, part.id)
        # Payments' own, like a surplus: the order has had its refund, and waits for no other.
        await store.record_refund_if_new(
            uow,
            refund_id,
            "overpayment",
            charge.id,
            charge.order_id,
            held.buyer_id if held else None,
            part.amount_minor,
            "chargeback_won",
            now,
            charge.currency,
        )
        uow.enqueue_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
        owed.append(UnsentRefund(refund_id, part.amount_minor))
    return owed
