"""Steps of outside refunds that several operations share."""

from dataclasses import replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from common.primitives.lifecycles import Rejection
from contracts.payments import OutsideRefundRecorded
from payments.domain import chargeback_postings, postings
from payments.domain.chargebacks import OUTSIDE_PREFIX, ChargebackAllocation, DisputedCharge, allocate_chargeback
from payments.domain.errors import OutsideRefundNotCorrectable, SubjectUnknown
from payments.domain.escrow import NO_PARTS, Escrow
from payments.domain.identifiers import attempt_of_reference, outside_refund_id, won_chargeback_release_id
from payments.domain.refunds import (
    FIRST_POLL_AFTER,
    RETURNED_STATUSES,
    NewRefund,
    RefundUpdate,
    check_refund,
    outside_alert_key,
    trigger_of_outside,
)
from payments.domain.transitions import REFUND
from payments.store import chargebacks, refunds
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder, lock_escrow
from payments.store.refunds import LockedRefund
from payments.use_cases.alerts import alert_outside_refund, clear_alert
from payments.use_cases.chargebacks.steps import debit_order, recreate_refunds, release_returned, return_to_order
from payments.use_cases.escrow.steps import describe_escrow
from payments.use_cases.refunds.resume_refunds import resume_refunds
from payments.use_cases.statements.steps import sign_movement


async def publish_outside_refund(
    uow: UnitOfWork,
    refund_id: UUID,
    outcome: Literal["recorded", "returned"],
    held: HeldOrder,
    after: Escrow,
    allocation: ChargebackAllocation,
    amount_minor: int,
) -> None:
    """Publish the allocation: `recorded` debits the allocation to the order, `returned` credits it again."""
    returned = allocation.from_released if outcome == "returned" else NO_PARTS
    debited = allocation.from_released if outcome == "recorded" else NO_PARTS
    statement = await sign_movement(
        uow,
        held.vendor_id,
        f"outside_refund:{refund_id}:{outcome}",
        returned.vendor_minor - debited.vendor_minor,
    )
    uow.publish(
        OutsideRefundRecorded(
            order_id=held.order_id,
            buyer_id=held.buyer_id,
            vendor_id=held.vendor_id,
            refund_id=refund_id,
            amount_minor=amount_minor,
            outcome=outcome,
            from_vendor_minor=debited.vendor_minor,
            from_commission_minor=debited.commission_minor,
            from_delivery_fee_minor=debited.delivery_fee_minor,
            to_vendor_minor=returned.vendor_minor,
            to_commission_minor=returned.commission_minor,
            to_delivery_fee_minor=returned.delivery_fee_minor,
            remaining_minor=after.locked.total_minor,
            remaining_vendor_minor=after.locked.vendor_minor,
            statement=statement,
            escrow=describe_escrow(held, after),
            number=held.number,
        )
    )


async def correct_outside_refund(uow: UnitOfWork, refund: LockedRefund, now: datetime) -> None:
    """Give the order its money again, and the uncovered loss offsets later refunds of the charge: the payer has that
    part.

    Raises OutsideRefundNotCorrectable (409).
    """
    await chargebacks.lock_disputed_charge(uow, refund.charge_reference, refund.charge_gateway_id)
    held = await lock_escrow(uow, refund.order_id) if refund.order_id is not None else None
    allocated = await chargebacks.lock_chargeback(uow, f"{OUTSIDE_PREFIX}{refund.gateway_refund_id}")
    if held is None or allocated is None or refund.status != "settled" or not allocated.allocation.from_order_minor:
        raise OutsideRefundNotCorrectable
    allocation = allocated.allocation
    await ledger.post(
        uow,
        chargeback_postings.outside_refund_corrected(
            refund.id, held.order_id, held.vendor_id, refund.currency, allocation
        ),
    )
    borne = replace(
        allocation,
        from_locked=NO_PARTS,
        from_released=NO_PARTS,
        loss_minor=allocation.loss_minor + allocation.from_order_minor,
    )
    await chargebacks.save_corrected_allocation(uow, allocated.id, borne)
    after = await return_to_order(uow, held, allocation)
    await publish_outside_refund(uow, refund.id, "returned", held, after, allocation, allocation.from_order_minor)
    await release_returned(uow, held, after, allocation, won_chargeback_release_id(allocated.id, 1), now)
    clear_alert(uow, outside_alert_key(refund.id), "two people corrected the refund")


async def return_outside_refund(uow: UnitOfWork, refund: LockedRefund, failure: str, now: datetime) -> None:
    """Reverse its posting; refunds that it had offset are created again."""
    charge = await chargebacks.lock_disputed_charge(uow, refund.charge_reference, refund.charge_gateway_id)
    allocated = await chargebacks.lock_chargeback(uow, f"{OUTSIDE_PREFIX}{refund.gateway_refund_id}")
    if charge is None or allocated is None:
        raise LookupError(f"outside refund {refund.id} has no allocation")
    held = await lock_escrow(uow, refund.order_id) if refund.order_id is not None else None
    recreated = await recreate_refunds(uow, allocated, 1, charge, held, "outside_refund_failed", now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    posting = chargeback_postings.outside_refund_returned(
        refund.id, order_id, vendor_id, refund.currency, allocated.allocation, recreated
    )
    await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, allocated, "won", allocated.amount_minor, ChargebackAllocation(), now)
    await refunds.save_refund_failed(uow, refund.id, failure, refund.gateway_refund_id)
    if held is not None:
        after = await return_to_order(uow, held, allocated.allocation)
        await publish_outside_refund(
            uow, refund.id, "returned", held, after, allocated.allocation, allocated.amount_minor
        )
        await release_returned(uow, held, after, allocated.allocation, won_chargeback_release_id(allocated.id, 1), now)
    clear_alert(uow, outside_alert_key(refund.id), "the gateway did not pay the refund")
    await resume_refunds(uow, charge.id)


async def apply_outside_update(uow: UnitOfWork, refund: LockedRefund, update: RefundUpdate, now: datetime) -> bool:
    """Return whether the update changed the refund: paid, or returned to the order. Both are final."""
    after = REFUND.next_state(refund.status, trigger_of_outside(update))
    if isinstance(after, Rejection):
        if after is Rejection.STALE:
            STALE_EVENTS.labels(f"refund.{update.status}").inc()
        return False
    if after == "settled":
        await ledger.post(
            uow, postings.refund_settled(refund.id, refund.attempt_id, refund.amount_minor, refund.currency)
        )
        await refunds.save_refund_settled(uow, refund.id, now, update.gateway_refund_id)
    else:
        await return_outside_refund(uow, refund, update.failure or "the gateway gave no reason", now)
    return True


REASON = "made_outside"


async def record_outside_refund(uow: UnitOfWork, update: RefundUpdate, now: datetime) -> bool:
    """Return whether the refund is new. It is allocated like a lost chargeback: to unsent refunds of the charge first, then to the order.

    Raises SubjectUnknown for a refund that may be ours, or of an unknown charge, and RefundContradiction.
    """
    gateway_refund_id = update.gateway_refund_id
    if gateway_refund_id is None or attempt_of_reference(update.note) is not None:
        raise SubjectUnknown(f"no refund of ours has the gateway's id {gateway_refund_id}")
    if update.status in RETURNED_STATUSES:
        return False
    charge = await _lock_charge(uow, update)
    held = await lock_escrow(uow, charge.order_id) if charge.order_id is not None else None
    check_refund(update, update.amount_minor, charge.currency)
    refund = NewRefund(
        outside_refund_id(gateway_refund_id),
        "outside",
        charge.id,
        charge.order_id,
        held.buyer_id if held else None,
        update.amount_minor,
        REASON,
        charge.currency,
    )
    if not await refunds.record_outside_refund_if_new(uow, refund, gateway_refund_id, now + FIRST_POLL_AFTER, now):
        return False
    unsent = await chargebacks.lock_unsent_refunds(uow, charge.id)
    allocation = allocate_chargeback(refund.amount_minor, unsent, held.escrow if held else None)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    posting = chargeback_postings.outside_refund(refund.id, order_id, vendor_id, charge.currency, allocation)
    identity = f"{OUTSIDE_PREFIX}{gateway_refund_id}"
    await chargebacks.record_chargeback(uow, refund.id, identity, charge, refund.amount_minor, REASON, now)
    allocated = Chargeback(refund.id, refund.amount_minor, charge.currency, "opened", ChargebackAllocation())
    after = await debit_order(uow, allocated, held, allocation, refund.amount_minor, posting, now)
    if held is not None and after is not None:
        await publish_outside_refund(uow, refund.id, "recorded", held, after, allocation, refund.amount_minor)
    alert_outside_refund(uow, refund.id, charge, refund.amount_minor, allocation)
    recorded = await refunds.lock_refund(uow, refund.id)
    if recorded is not None:
        await apply_outside_update(uow, recorded, update, now)
    return True


async def _lock_charge(uow: UnitOfWork, update: RefundUpdate) -> DisputedCharge:
    charge = await chargebacks.lock_disputed_charge(uow, update.transaction_reference, update.transaction_id)
    if charge is None:
        raise SubjectUnknown(f"refund {update.gateway_refund_id} of an unknown charge")
    if update.is_anonymous and await refunds.has_unanswered_call(uow, charge.id):
        raise SubjectUnknown(f"refund {update.gateway_refund_id} may be that of a call of ours without a response")
    return charge
