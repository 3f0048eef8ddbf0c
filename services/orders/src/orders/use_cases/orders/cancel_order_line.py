"""Cancel one line of an order."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import OrderLineCancelled
from orders.domain.errors import ForbiddenTransition
from orders.domain.order_history import ROLE_BY_EVENT, OrderActor
from orders.domain.order_roles import OrderRole, cancel_trigger
from orders.domain.orders import Cancellation, LineCancellation, Windows
from orders.domain.returns import RequestedRefund, ReturnedItem, refund_for_return
from orders.store import orders, returns
from orders.use_cases.orders.cancel_order import cancel_order
from orders.use_cases.refunds.steps import request_refund


async def cancel_order_line(
    uow: UnitOfWork,
    order_id: UUID,
    roles: frozenset[OrderRole],
    requested: LineCancellation,
    *,
    by: Caller,
    now: datetime,
    windows: Windows,
) -> None:
    """Vendor or staff cancel a line of a paid order before its dispatch: its price is refunded (contract section 6).

    The units do not return to the stock: the vendor does not have them. The last line cancels the order, with the
    delivery fee. A repetition changes nothing. Raises Forbidden (403) for the buyer, NotFound, ForbiddenTransition
    (409), and StepUpRequired (403) for staff without a recent second factor.
    """
    trigger, (item_id, reason) = cancel_trigger(roles), requested
    order = await orders.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    if trigger not in ("vendor_cancels", "staff_cancels") or by.id == order.buyer_id:
        raise Forbidden
    lines = await returns.list_order_lines(uow, order.id)
    if item_id not in lines:
        raise NotFound
    if not lines[item_id].remaining:
        return
    if order.status != "paid_escrow":
        raise ForbiddenTransition(order.status)
    if trigger == "staff_cancels":
        by.must_have_stepped_up(now)
    if not any(line.remaining for other_id, line in lines.items() if other_id != item_id):
        await cancel_order(uow, order_id, roles, Cancellation(reason), by=by, now=now, windows=windows)
        return
    cancelled = ReturnedItem(item_id, lines[item_id].quantity)
    earlier = await returns.sum_refunds(uow, order.id)
    refund = refund_for_return(order.total_minor, order.commission_minor, [cancelled], lines, earlier)
    refund_id = None
    if refund.refund_minor:
        refund_id = await request_refund(uow, order, refund.refund_minor, reason, now, refund.commission_minor)
    refunded = RequestedRefund(refund.refund_minor, refund_id)
    actor = OrderActor(by.id, ROLE_BY_EVENT[trigger])
    await returns.record_cancelled_line(uow, order, cancelled, reason, actor, now, refunded)
    uow.publish(
        OrderLineCancelled(
            order_id=order.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            item_id=item_id,
            product_name=lines[item_id].name,
            quantity=cancelled.quantity,
            amount_minor=refund.refund_minor,
            reason=reason,
            cancelled_at=iso(now),
            number=order.number,
        )
    )
