"""Owe a payer what one charge brought too much, and leave the work of sending it back at once."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from payments import store
from payments.store import OrderBehind

REFUND_QUEUE = "payments.refunds"


async def owe_overpayment(
    uow: UnitOfWork,
    refund_id: UUID,
    charge_id: UUID,
    behind: OrderBehind,
    amount_minor: int,
    reason: str,
    now: datetime,
) -> None:
    """Writes the refund down and leaves its work. The posting is the caller's."""
    await store.record_refund_once(
        uow, refund_id, "overpayment", charge_id, behind.order_id, behind.buyer_id, amount_minor, reason, now
    )
    uow.leave_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
