"""The buyer says that something is wrong."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import Forbidden, NotFound
from orders import store
from orders.domain.disputes import Complaint
from orders.domain.errors import ForbiddenMove
from orders.domain.moves import NoMove, answer
from orders.domain.orders import Windows
from orders.domain.parties import Part
from orders.use_cases.open_dispute import open_dispute


async def dispute_order(
    uow: UnitOfWork, order_id: UUID, parts: frozenset[Part], complaint: Complaint, *, now: datetime, windows: Windows
) -> None:
    """The buyer disputes a paid order that the PIN has not proven delivered. Raises Forbidden (403), ForbiddenMove (409).

    Of a dispute and the right PIN at the same moment, the second one to have the order's row finds it moved.
    """
    if "buyer" not in parts:
        raise Forbidden
    order = await store.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    move = answer(order.status, complaint.trigger)
    if move is NoMove.REPEATED:
        return
    if isinstance(move, NoMove):
        raise ForbiddenMove(order.status)
    await open_dispute(uow, order, complaint, now=now, windows=windows)
