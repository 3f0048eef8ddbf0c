"""Dispute an order."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from common.primitives.problems import Forbidden, NotFound
from orders.domain.disputes import Complaint
from orders.domain.errors import ForbiddenTransition
from orders.domain.order_roles import OrderRole
from orders.domain.orders import Windows
from orders.domain.transitions import next_state
from orders.store import orders
from orders.use_cases.disputes.steps import open_dispute


async def dispute_order(
    uow: UnitOfWork,
    order_id: UUID,
    roles: frozenset[OrderRole],
    complaint: Complaint,
    *,
    now: datetime,
    windows: Windows,
) -> None:
    """Dispute a paid order, as its buyer, before its PIN is verified. Raises Forbidden (403), ForbiddenTransition
    (409).

    Of a concurrent dispute and PIN verification, the second to lock the order's row sees the new state.
    """
    if "buyer" not in roles:
        raise Forbidden
    order = await orders.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    transition = next_state(order.status, complaint.trigger)
    if transition is Rejection.REPEATED:
        return
    if isinstance(transition, Rejection):
        raise ForbiddenTransition(order.status)
    await open_dispute(uow, order, complaint, now=now, windows=windows)
