"""Reject a return request."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.orders import ReturnDecided
from orders.domain.returns import evaluate_decision
from orders.store import orders, returns


async def reject_return(
    uow: UnitOfWork, request_id: UUID, order_id: UUID, reason: str | None, *, by: UUID, now: datetime
) -> None:
    """Vendor or staff reject the return; the buyer may request it again within the window.

    Raises NotFound, AlreadyDecided (409).
    """
    order = await orders.lock_order(uow, order_id)
    request = await returns.lock_request(uow, request_id)
    if order is None or request is None:
        raise NotFound
    if not evaluate_decision(request, "rejected"):
        return
    await returns.save_decision(uow, request.id, "rejected", by, reason, now)
    uow.publish(
        ReturnDecided(
            order_id=order.id,
            return_request_id=request.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            outcome="rejected",
            number=order.number,
        )
    )
