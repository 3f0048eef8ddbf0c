"""Accept the payment of an order."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.order_updates import evaluate_update
from orders.domain.orders import Order, ReportedEscrow, Windows
from orders.domain.pins import SharedPayment
from orders.store import orders, stock
from orders.store.pins import first_pin
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer
from orders.use_cases.products.publish_stock_changes import publish_stock_changes
from orders.use_cases.refunds.steps import request_refund

LATE_CHARGE_REASON = "The payment arrived after the order had closed, and the products are out of stock."


async def accept_payment(
    uow: UnitOfWork,
    order: Order,
    escrow: ReportedEscrow,
    pins: PinIssuer,
    *,
    now: datetime,
    windows: Windows,
    shared_payment: SharedPayment | None = None,
) -> Rejection | None:
    """Mark the locked order as paid after a charge that its escrow holds, and issue its delivery PIN.

    An expired or cancelled order reserves its stock again; without stock the charge is refunded (contract section 6).
    Raises EarlyUpdate. Returns the reason when nothing changed.
    """
    order, transition = evaluate_update(order, "escrow_held", about=order.id)
    if isinstance(transition, Rejection):
        await orders.save_escrow(uow, order.id, escrow)
        return transition
    if order.status != "Processing":
        # Products are locked after the orders of a transaction (decision 102).
        uow.require_alone()
        stock_levels = await stock.reserve_stock_again(uow, order.id)
        if not stock_levels:
            return await _refund_late_charge(uow, order, escrow, now, windows)
        publish_stock_changes(uow, stock_levels)
    _, digest, encrypted, event = pins.draw(order, 1, shared_payment)
    pin = first_pin(order, 1, digest=digest, encrypted=encrypted, now=now)
    facts = orders.TransitionFacts(escrow, event=event, also=pin, are_last=True)
    await orders.save_transition(uow, order, transition, "escrow_held", now, windows, facts)
    return None


async def _refund_late_charge(
    uow: UnitOfWork, order: Order, escrow: ReportedEscrow, now: datetime, windows: Windows
) -> Rejection | None:
    order, transition = evaluate_update(order, "escrow_held_without_stock", about=order.id)
    if isinstance(transition, Rejection):
        await orders.save_escrow(uow, order.id, escrow)
        return transition
    await orders.save_transition(
        uow, order, transition, "escrow_held_without_stock", now, windows, orders.TransitionFacts(escrow)
    )
    await request_refund(uow, order, escrow.remaining_minor, LATE_CHARGE_REASON, now)
    return None
