"""The gateway could not pay a refund out."""

from common.database import UnitOfWork
from common.ids import new_id
from contracts.operations import AlertRaised
from contracts.payments import RefundFailed
from orders import store
from orders.domain.moves import NoMove
from orders.domain.news import OrderUnknown, judge_news


async def record_refund_failed(uow: UnitOfWork, event: RefundFailed) -> NoMove | None:
    """The order stays `refund_pending`, and somebody is called: the buyer's money is on its way to nowhere (SEV-2).

    Raises OrderUnknown, NewsBeforeItsTime. Answers why nothing was done.
    """
    if event.kind != "order" or event.order_id is None:
        return None
    order = await store.lock_order(uow, event.order_id)
    order, move = judge_news(order, "refund_failed", about=event.order_id)
    refund = await store.lock_refund(uow, event.refund_id, order.id)
    if refund is None:
        raise OrderUnknown(f"no refund {event.refund_id} of order {order.id}")
    if refund.status == "settled":
        return NoMove.STALE
    await store.save_failed_refund(uow, event.refund_id)
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title="A refund failed at the gateway",
            detail=f"Refund {event.refund_id} of {event.amount_minor} kobo: try again, or change its destination.",
            runbook="refund-failed",
            dedup_key=f"refund-failed:{event.refund_id}",
            about=str(event.order_id),
        ),
        source="orders",
    )
    return move if isinstance(move, NoMove) else None
