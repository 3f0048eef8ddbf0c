"""Owe a payer what one charge brought too much, and leave the work of sending it back at once."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments import store
from payments.store import PayableOrder

REFUND_QUEUE = "payments.refunds"


async def create_overpayment_refund(
    uow: UnitOfWork,
    refund_id: UUID,
    charge_id: UUID,
    behind: PayableOrder,
    amount_minor: int,
    reason: str,
    now: datetime,
) -> None:
    """Writes the refund down and leaves its work. The posting is the caller's."""
    await store.record_refund_if_new(
        uow, refund_id, "overpayment", charge_id, behind.order_id, behind.buyer_id, amount_minor, reason, now
    )
    uow.enqueue_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
