"""Refund an order from its escrow, or after a release from the receivers. The posting key is the refund's id."""

from dataclasses import replace
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import EscrowRefunded, RefundSettled
from payments.domain import escrow, postings
from payments.domain.balances import PaidBy, RefundSplit, split_refund
from payments.domain.chargebacks import UnsentRefund
from payments.domain.errors import SubjectUnknown
from payments.domain.refunds import NewRefund, RequestedRefund
from payments.store import chargebacks, refunds
from payments.store.escrow import lock_escrow, save_charged_back
from payments.use_cases.chargebacks.steps import count_charged_back
from payments.use_cases.escrow.steps import describe_escrow
from payments.use_cases.refunds.credit_refund import credit_refund
from payments.use_cases.refunds.enqueue_refund import enqueue_refund
from payments.use_cases.refunds.record_offset_settled import record_offset_settled
from payments.use_cases.statements.steps import sign_movement


async def refund_order(uow: UnitOfWork, requested: RequestedRefund, now: datetime) -> bool:
    """Return whether the refund is new. A lost chargeback that returned money to the buyer counts as a part of it.

    Raises SubjectUnknown before the escrow is held, and RefundExceedsHeld.
    """
    order_id, refund_id, amount_minor = requested.order_id, requested.id, requested.amount_minor
    held = await lock_escrow(uow, order_id)
    if held is None:
        raise SubjectUnknown(f"a refund of order {order_id} is requested, and it has no escrow yet")
    refund = NewRefund(refund_id, "order", held.charge_id, order_id, held.buyer_id, amount_minor, requested.reason)
    if not await refunds.record_refund_if_new(uow, refund, now):
        return False
    is_all_to_balance = requested.is_all_to_balance and not await chargebacks.chargeback_is_open(uow, order_id)
    returned_minor = await count_charged_back(uow, held, refund_id, amount_minor)
    plan = escrow.refund(held.escrow, amount_minor - returned_minor, requested.of_items)
    if returned_minor < amount_minor:
        posting = postings.refund(
            refund_id, order_id, held.vendor_id, from_locked=plan.from_locked, from_released=plan.from_released
        )
        await ledger.post(uow, posting)
    after = replace(plan.after, refunded_minor=plan.after.refunded_minor + returned_minor)
    await save_charged_back(uow, order_id, after, -returned_minor)
    left_minor = amount_minor - returned_minor
    split = RefundSplit(left_minor)
    if is_all_to_balance or held.paid != PaidBy():
        split = split_refund(
            left_minor, held.held_minor, held.returned_minor, held.paid, is_all_to_balance=is_all_to_balance
        )
    if split.to_balance.total_minor:
        await credit_refund(uow, refund, split.to_balance, now)
    from_vendor_minor = plan.from_released.vendor_minor
    statement = await sign_movement(uow, held.vendor_id, f"refund:{refund_id}", -from_vendor_minor)
    uow.publish(
        EscrowRefunded(
            order_id=order_id,
            buyer_id=held.buyer_id,
            vendor_id=held.vendor_id,
            refund_id=refund_id,
            amount_minor=amount_minor,
            from_vendor_minor=from_vendor_minor,
            from_commission_minor=plan.from_released.commission_minor,
            from_delivery_fee_minor=plan.from_released.delivery_fee_minor,
            remaining_minor=plan.after.locked.total_minor,
            remaining_vendor_minor=plan.after.locked.vendor_minor,
            statement=statement,
            escrow=describe_escrow(held, after),
            number=held.number,
            balance_minor=split.to_balance.total_minor or None,
        )
    )
    if returned_minor:
        await record_offset_settled(uow, UnsentRefund(refund_id, returned_minor), now)
    if split.to_charge_minor:
        enqueue_refund(uow, refund_id)
    elif not returned_minor:
        _publish_credited(uow, refund, held.number)
    return True


def _publish_credited(uow: UnitOfWork, refund: NewRefund, number: str | None) -> None:
    """Publish that the balance has received all of the refund."""
    uow.publish(
        RefundSettled(
            refund_id=refund.id,
            kind="order",
            amount_minor=refund.amount_minor,
            balance_minor=refund.amount_minor,
            order_id=refund.order_id,
            buyer_id=refund.buyer_id,
            number=number,
        )
    )
