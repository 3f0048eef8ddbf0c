"""Fire an order's timer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from contracts.orders import OrderExpired
from orders.domain.disputes import Complaint
from orders.domain.order_updates import evaluate_update
from orders.domain.orders import TimerKind, Windows
from orders.domain.transitions import Trigger
from orders.store import orders, stock, timers
from orders.use_cases.disputes.steps import open_dispute
from orders.use_cases.products.publish_stock_changes import publish_stock_changes
from orders.use_cases.refunds.steps import request_rest

_TRIGGERS: Final[Mapping[TimerKind, Trigger]] = {
    "payment_window": "payment_window_ended",
    "vendor_idle": "vendor_idle",
    "pin_window": "pin_window_ended",
}
_REASONS: Final[Mapping[TimerKind, str]] = {
    "payment_window": "The payment window ended.",
    "vendor_idle": "The vendor did not dispatch the order in time.",
    "pin_window": "The delivery was not confirmed with the PIN in time.",
}


async def fire_timer(
    uow: UnitOfWork, order_id: UUID, kind: TimerKind, *, now: datetime, windows: Windows
) -> Rejection | None:
    """Expire an unpaid order, refund the order of an idle vendor, dispute an unconfirmed delivery (contract section 6).

    Undispatched units return to the stock. Returns the reason when nothing changed: the timer is stale, or another
    transaction holds the order and the next round retries.
    """
    if not await timers.claim_timer(uow, order_id, kind, now):
        return Rejection.REPEATED
    order, transition = evaluate_update(await orders.lock_order(uow, order_id), _TRIGGERS[kind], about=order_id)
    if isinstance(transition, Rejection):
        await timers.delete_timer(uow, order_id, kind)
        return transition
    reason = _REASONS[kind]
    if transition == "disputed":
        await open_dispute(uow, order, Complaint("pin_window", reason), now=now, windows=windows)
        return None
    await orders.save_transition(uow, order, transition, _TRIGGERS[kind], now, windows)
    if order.stock_is_reserved:
        publish_stock_changes(uow, await stock.free_stock(uow, order.id))
    if transition == "expired":
        uow.publish(
            OrderExpired(
                order_id=order.id,
                buyer_id=order.buyer_id,
                vendor_id=order.vendor_id,
                reason=reason,
                number=order.number,
            )
        )
    else:
        await request_rest(uow, order, reason, now)
    return None
