"""Open a dispute."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.orders import OrderDisputed
from orders import store
from orders.domain.disputes import Complaint
from orders.domain.orders import Order, Windows
from orders.store import disputes


async def open_dispute(uow: UnitOfWork, order: Order, complaint: Complaint, *, now: datetime, windows: Windows) -> None:
    """Dispute a locked order; payments freezes its escrow on the event (contract sections 6 and 7)."""
    await store.save_transition(uow, order, "disputed", complaint.trigger, now, windows)
    await disputes.record_dispute(uow, order, complaint, now)
    uow.publish(
        OrderDisputed(
            order_id=order.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            reason=complaint.reason,
            number=order.number,
        )
    )
