"""The gateway could not pay a refund out."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from orders import store
from orders.domain.order_updates import evaluate_update, require_order
from orders.domain.transitions import Rejection


async def record_refund_failed(uow: UnitOfWork, order_id: UUID, refund_id: UUID, amount_minor: int) -> Rejection | None:
    """The order stays `refund_pending`, and somebody is called: the buyer's money (kobo) is on its way to nowhere (SEV-2).

    A refund that is not the order's own is none of its business. Raises OrderUnknown, NewsBeforeItsTime. Answers why nothing was done.
    """
    order = require_order(await store.lock_order(uow, order_id), about=order_id)
    refund = await store.lock_refund(uow, refund_id, order.id)
    if refund is None:
        return Rejection.STALE
    order, move = evaluate_update(order, "refund_failed", about=order_id)
    if refund.status == "settled":
        return Rejection.STALE
    await store.save_failed_refund(uow, refund_id)
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title="A refund failed at the gateway",
            detail=f"Refund {refund_id} of {amount_minor} kobo: try again, or change its destination.",
            runbook="refund-failed",
            dedup_key=f"refund-failed:{refund_id}",
            about=str(order_id),
        ),
        source="orders",
    )
    return move if isinstance(move, Rejection) else None
