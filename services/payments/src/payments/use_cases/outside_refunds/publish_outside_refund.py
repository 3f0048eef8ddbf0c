"""Publish the movement of an order's money by a refund that was made outside."""

from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import OutsideRefundRecorded
from payments.domain.chargebacks import ChargebackAllocation
from payments.domain.escrow import NO_PARTS, Escrow
from payments.store.escrow import HeldOrder
from payments.use_cases.escrow.describe_escrow import describe_escrow
from payments.use_cases.statements.sign_movement import sign_movement


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
