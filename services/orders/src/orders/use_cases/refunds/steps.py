"""Steps of refunds that several operations share."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.orders import RefundRequested
from orders.domain.orders import Order
from orders.domain.refund_destinations import RefundTo
from orders.store import refunds


async def request_rest(
    uow: UnitOfWork, order: Order, reason: str, now: datetime, *, refund_to: RefundTo | None = None
) -> None:
    """Request the refund of what cancelled lines left of the order's total."""
    rest_minor = order.total_minor - await refunds.sum_requested(uow, order.id)
    await request_refund(uow, order, rest_minor, reason, now, refund_to=refund_to)


async def request_refund(
    uow: UnitOfWork,
    order: Order,
    amount_minor: int,
    reason: str,
    now: datetime,
    commission_minor: int | None = None,
    *,
    refund_to: RefundTo | None = None,
) -> UUID:
    """Request a refund of `amount_minor` (kobo) from payments, and return its id, which the ledger uses too.

    With the `commission_minor` of items it takes their price from the vendor and the commission, and no delivery fee.
    """
    refund_id = new_id()
    await refunds.record_refund(uow, refund_id, order.id, amount_minor, reason, now)
    uow.publish(
        RefundRequested(
            order_id=order.id,
            refund_id=refund_id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            amount_minor=amount_minor,
            reason=reason,
            commission_minor=commission_minor,
            delivery_fee_minor=None if commission_minor is None else 0,
            number=order.number,
            refund_to=refund_to,
        )
    )
    return refund_id
