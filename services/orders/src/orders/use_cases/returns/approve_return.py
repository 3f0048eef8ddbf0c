"""Approve a return request."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from common.primitives.problems import NotFound
from contracts.orders import ReturnDecided
from orders.domain.errors import ForbiddenTransition
from orders.domain.order_history import actor_of
from orders.domain.order_roles import SHOP_ROLES, roles_of
from orders.domain.orders import Windows
from orders.domain.returns import RequestedRefund, evaluate_decision, refund_for_return
from orders.domain.transitions import Trigger, next_state
from orders.store import orders, returns
from orders.store.refunds import has_failed_refund
from orders.use_cases.refunds.steps import request_refund


async def approve_return(
    uow: UnitOfWork,
    request_id: UUID,
    order_id: UUID,
    reason: str | None,
    *,
    by: Caller,
    now: datetime,
    windows: Windows,
) -> None:
    """Vendor or staff approve the return; its units are refunded, and a completely returned order becomes `refunded`.

    Returned units do not return to the stock: the vendor decides that. Raises NotFound, AlreadyDecided and
    ForbiddenTransition (409).
    """
    order = await orders.lock_order(uow, order_id)
    request = await returns.lock_request(uow, request_id)
    if order is None or request is None:
        raise NotFound
    if not evaluate_decision(request, "approved"):
        return
    lines, refunds = await returns.list_order_lines(uow, order.id), await returns.sum_refunds(uow, order.id)
    refund = refund_for_return(order.total_minor, order.commission_minor, request.items, lines, refunds)
    trigger: Trigger = "everything_returned" if refund.everything else "return_approved"
    transition = next_state(order.status, trigger)
    if isinstance(transition, Rejection):
        raise ForbiddenTransition(order.status)
    if transition != order.status:
        facts = orders.TransitionFacts(actor=actor_of(by.id, roles_of(by, order) & SHOP_ROLES))
        order = await orders.save_transition(uow, order, transition, trigger, now, windows, facts)
    if refund.everything and await has_failed_refund(uow, order.id):
        # A refund of an earlier return failed: that money is still due.
        await orders.save_transition(uow, order, "refund_pending", "refund_failed", now, windows)
    refund_id = None
    if refund.refund_minor:
        refund_id = await request_refund(
            uow, order, refund.refund_minor, "return", now, refund.commission_minor, refund_to=request.refund_to
        )
    await returns.save_decision(
        uow, request.id, "approved", by.id, reason, now, RequestedRefund(refund.refund_minor, refund_id)
    )
    uow.publish(
        ReturnDecided(
            order_id=order.id,
            return_request_id=request.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            outcome="approved",
            refund_minor=refund.refund_minor,
            number=order.number,
        )
    )
