"""Complete an order after its release."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from contracts.orders import DisputeResolved, OrderCompleted
from orders.domain.order_updates import evaluate_update
from orders.domain.orders import Order, ReportedEscrow, Windows
from orders.store import disputes, orders


async def complete_order(
    uow: UnitOfWork, order: Order, remaining_minor: int, *, sequence: int, now: datetime, windows: Windows
) -> Rejection | None:
    """Complete the locked order when escrow is empty; after a partial release only save the remaining escrow (kobo).

    A dispute that was opened during the release closes with it, which lifts the freeze of payments.
    Raises EarlyUpdate. Returns the reason when nothing changed.
    """
    escrow = ReportedEscrow(remaining_minor, sequence)
    if remaining_minor > 0:
        await orders.save_escrow(uow, order.id, escrow)
        return None
    order, transition = evaluate_update(order, "escrow_fully_released", about=order.id)
    if isinstance(transition, Rejection):
        await orders.save_escrow(uow, order.id, escrow)
        return transition
    completed = OrderCompleted(
        order_id=order.id, buyer_id=order.buyer_id, vendor_id=order.vendor_id, number=order.number
    )
    is_disputed = order.status == "disputed"
    first = None if is_disputed else completed
    facts = orders.TransitionFacts(escrow, event=first, are_last=not is_disputed)
    await orders.save_transition(uow, order, transition, "escrow_fully_released", now, windows, facts)
    if is_disputed:
        await disputes.close_dispute(uow, order.id, "released", now)
        uow.publish(
            DisputeResolved(
                order_id=order.id,
                buyer_id=order.buyer_id,
                vendor_id=order.vendor_id,
                outcome="vendor",
                refund_minor=0,
                release_minor=0,
                number=order.number,
            )
        )
        uow.publish(completed)
    return None
