"""Steps of outside refunds that several operations share."""

from dataclasses import replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from contracts.payments import OutsideRefundRecorded
from payments.domain import chargeback_postings, postings
from payments.domain.chargebacks import (
    OUTSIDE_PREFIX,
    ChargebackAllocation,
    DisputedCharge,
    NewChargeback,
    allocate_to_orders,
)
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
from payments.store.escrow import HeldOrder, lock_escrows_of_charge
from payments.store.refunds import LockedRefund
from payments.use_cases.alerts import alert_outside_refund, clear_alert
from payments.use_cases.chargebacks.steps import (
    DisputedOrder,
    debit_order,
    pair_orders,
    recreate_refunds,
    release_returned,
    return_to_order,
    sorted_by_lock,
)
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
    disputed = await _lock_parts(uow, refund)
    borne = [(chargeback, held) for chargeback, held in disputed if held and chargeback.allocation.from_order_minor]
    if refund.status != "settled" or not borne:
        raise OutsideRefundNotCorrectable
    for (chargeback, held), _ in sorted_by_lock((one, None) for one in borne):
        if held is not None:
            await _correct_part(uow, refund, chargeback, held, now)
    clear_alert(uow, outside_alert_key(refund.id), "two people corrected the refund")


async def _lock_parts(uow: UnitOfWork, refund: LockedRefund) -> list[DisputedOrder]:
    held = await lock_escrows_of_charge(uow, refund.charge_id)
    return pair_orders(await chargebacks.lock_chargebacks(uow, f"{OUTSIDE_PREFIX}{refund.gateway_refund_id}"), held)


async def _correct_part(
    uow: UnitOfWork, refund: LockedRefund, chargeback: Chargeback, held: HeldOrder, now: datetime
) -> None:
    allocation = chargeback.allocation
    await ledger.post(
        uow,
        chargeback_postings.outside_refund_corrected(
            chargeback.id, held.order_id, held.vendor_id, refund.currency, allocation
        ),
    )
    borne = replace(
        allocation,
        from_locked=NO_PARTS,
        from_released=NO_PARTS,
        loss_minor=allocation.loss_minor + allocation.from_order_minor,
    )
    await chargebacks.save_corrected_allocation(uow, chargeback.id, borne)
    after = await return_to_order(uow, held, allocation)
    await publish_outside_refund(uow, chargeback.id, "returned", held, after, allocation, allocation.from_order_minor)
    await release_returned(uow, held, after, allocation, won_chargeback_release_id(chargeback.id, 1), now)


async def return_outside_refund(uow: UnitOfWork, refund: LockedRefund, failure: str, now: datetime) -> None:
    """Reverse its posting; refunds that it had offset are created again."""
    charge = await chargebacks.lock_disputed_charge(uow, refund.charge_reference, refund.charge_gateway_id)
    disputed = await _lock_parts(uow, refund)
    if charge is None or not disputed:
        raise LookupError(f"outside refund {refund.id} has no allocation")
    for (chargeback, held), _ in sorted_by_lock((one, None) for one in disputed):
        await _return_part(uow, refund, chargeback, charge, held, now)
    await refunds.save_refund_failed(uow, refund.id, failure, refund.gateway_refund_id)
    clear_alert(uow, outside_alert_key(refund.id), "the gateway did not pay the refund")
    await resume_refunds(uow, charge.id)


async def _return_part(
    uow: UnitOfWork,
    refund: LockedRefund,
    chargeback: Chargeback,
    charge: DisputedCharge,
    held: HeldOrder | None,
    now: datetime,
) -> None:
    allocation = chargeback.allocation
    recreated = await recreate_refunds(uow, chargeback, 1, charge, held, "outside_refund_failed", now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    if chargeback.amount_minor:
        posting = chargeback_postings.outside_refund_returned(
            chargeback.id, refund.id, order_id, vendor_id, refund.currency, allocation, recreated
        )
        await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, chargeback, "won", chargeback.amount_minor, ChargebackAllocation(), now)
    if held is not None:
        after = await return_to_order(uow, held, allocation)
        await publish_outside_refund(uow, chargeback.id, "returned", held, after, allocation, chargeback.amount_minor)
        await release_returned(uow, held, after, allocation, won_chargeback_release_id(chargeback.id, 1), now)


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
    """Return whether the refund is new. It is allocated like a lost chargeback: to unsent refunds of the charge first,
    then to the order.

    Raises SubjectUnknown for a refund that may be ours, or of an unknown charge, and RefundContradiction.
    """
    gateway_refund_id = update.gateway_refund_id
    if gateway_refund_id is None or attempt_of_reference(update.note) is not None:
        raise SubjectUnknown(f"no refund of ours has the gateway's id {gateway_refund_id}")
    if update.status in RETURNED_STATUSES:
        return False
    charge = await _lock_charge(uow, update)
    held = await lock_escrows_of_charge(uow, charge.id)
    check_refund(update, update.amount_minor, charge.currency)
    refund = NewRefund(
        outside_refund_id(gateway_refund_id),
        "outside",
        charge.id,
        charge.order_id,
        held[0].buyer_id if held else None,
        update.amount_minor,
        REASON,
        charge.currency,
    )
    if not await refunds.record_outside_refund_if_new(uow, refund, gateway_refund_id, now + FIRST_POLL_AFTER, now):
        return False
    unsent = await chargebacks.lock_unsent_refunds(uow, charge.id)
    orders: list[HeldOrder | None] = [*held] if held else [None]
    allocations = allocate_to_orders(
        refund.amount_minor, unsent, [(order.order_id, order.escrow) if order else (None, None) for order in orders]
    )
    identity = f"{OUTSIDE_PREFIX}{gateway_refund_id}"
    parts: list[DisputedOrder] = []
    for order, allocation in zip(orders, allocations, strict=True):
        order_id = order.order_id if order else None
        named = (new_id(), f"{identity}/{order_id}", refund.id) if parts else (refund.id, identity, None)
        part_id, name, part_of = named
        new = NewChargeback(part_id, name, order_id, allocation.total_minor, REASON, part_of)
        chargeback = await chargebacks.record_chargeback(uow, charge, new, now)
        parts.append((chargeback, order))
    for (chargeback, order), allocation in sorted_by_lock(zip(parts, allocations, strict=True)):
        await _debit_part(uow, refund, chargeback, charge, order, allocation, now)
    allocation = allocations[0]
    alert_outside_refund(uow, refund.id, charge, refund.amount_minor, allocation)
    recorded = await refunds.lock_refund(uow, refund.id)
    if recorded is not None:
        await apply_outside_update(uow, recorded, update, now)
    return True


async def _debit_part(
    uow: UnitOfWork,
    refund: NewRefund,
    chargeback: Chargeback,
    charge: DisputedCharge,
    held: HeldOrder | None,
    allocation: ChargebackAllocation,
    now: datetime,
) -> None:
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    posting = (
        chargeback_postings.outside_refund(chargeback.id, refund.id, order_id, vendor_id, charge.currency, allocation)
        if chargeback.amount_minor
        else None
    )
    after = await debit_order(uow, chargeback, held, allocation, allocation.total_minor, posting, now)
    if held is not None and after is not None:
        await publish_outside_refund(uow, chargeback.id, "recorded", held, after, allocation, chargeback.amount_minor)


async def _lock_charge(uow: UnitOfWork, update: RefundUpdate) -> DisputedCharge:
    charge = await chargebacks.lock_disputed_charge(uow, update.transaction_reference, update.transaction_id)
    if charge is None:
        raise SubjectUnknown(f"refund {update.gateway_refund_id} of an unknown charge")
    if update.is_anonymous and await refunds.has_unanswered_call(uow, charge.id):
        raise SubjectUnknown(f"refund {update.gateway_refund_id} may be that of a call of ours without a response")
    return charge
