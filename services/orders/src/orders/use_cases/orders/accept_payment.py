"""The money of an order is held."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders import store
from orders.domain.order_updates import evaluate_update
from orders.domain.orders import Order, Windows
from orders.domain.transitions import Rejection
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer, issue_delivery_pin
from orders.use_cases.products.publish_stock_changes import publish_stock_changes
from orders.use_cases.refunds.request_refund import request_refund

LATE_CHARGE_REASON = "The payment came after the order had ended, and the goods are gone."


async def accept_payment(
    uow: UnitOfWork,
    order_id: UUID,
    amount_minor: int,
    pins: PinIssuer,
    *,
    sequence: int,
    now: datetime,
    windows: Windows,
) -> Rejection | None:
    """A charge of `amount_minor` (kobo) covers the order: it is paid, and its delivery PIN exists.

    An order that had expired or was cancelled takes its stock again; if that is gone, all the money goes back
    (contract section 6). Raises OrderUnknown and NewsBeforeItsTime. Answers why nothing was done.
    """
    order = await store.lock_order(uow, order_id)
    order, transition = evaluate_update(order, "escrow_held", about=order_id)
    await store.save_escrow(uow, order.id, amount_minor, sequence)
    if isinstance(transition, Rejection):
        return transition
    if order.status != "Processing":
        shelves = await store.reserve_stock_again(uow, order.id)
        if not shelves:
            return await _send_money_back(uow, order, amount_minor, now, windows)
        publish_stock_changes(uow, shelves)
    await store.save_transition(uow, order, transition, now, windows)
    await issue_delivery_pin(uow, pins, order, 1, now)
    return None


async def _send_money_back(
    uow: UnitOfWork, order: Order, amount_minor: int, now: datetime, windows: Windows
) -> Rejection | None:
    order, transition = evaluate_update(order, "escrow_held_without_stock", about=order.id)
    if isinstance(transition, Rejection):
        return transition
    await store.save_transition(uow, order, transition, now, windows)
    await request_refund(uow, order, amount_minor, LATE_CHARGE_REASON, now)
    return None
