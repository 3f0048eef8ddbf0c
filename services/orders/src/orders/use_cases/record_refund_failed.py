"""The gateway could not pay a refund out."""

from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id
from contracts.operations import AlertRaised
from orders import store
from orders.domain.moves import NoMove
from orders.domain.news import judge_known, judge_news


async def record_refund_failed(uow: UnitOfWork, order_id: UUID, refund_id: UUID, amount_minor: int) -> NoMove | None:
    """The order stays `refund_pending`, and somebody is called: the buyer's money (kobo) is on its way to nowhere (SEV-2).

    A refund that is not the order's own is none of its business. Raises OrderUnknown, NewsBeforeItsTime. Answers why nothing was done.
    """
    order = judge_known(await store.lock_order(uow, order_id), about=order_id)
    refund = await store.lock_refund(uow, refund_id, order.id)
    if refund is None:
        return NoMove.STALE
    order, move = judge_news(order, "refund_failed", about=order_id)
    if refund.status == "settled":
        return NoMove.STALE
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
    return move if isinstance(move, NoMove) else None
