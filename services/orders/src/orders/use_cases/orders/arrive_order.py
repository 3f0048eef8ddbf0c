"""Record the arrival of an order at its hub."""

from datetime import datetime
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.problems import Forbidden, NotFound
from contracts.opening_hours import OpeningPeriod
from contracts.orders import OrderArrived
from orders.domain.errors import ForbiddenTransition
from orders.domain.order_roles import OrderRole
from orders.store import orders
from orders.store.projections import find_hub


async def arrive_order(
    uow: UnitOfWork, order_id: UUID, roles: frozenset[OrderRole], *, agent_id: UUID, now: datetime
) -> None:
    """Record that an agent received the parcel of a dispatched order at its hub, and publish it once.

    The state stays. A repetition has no effect, also after the delivery. Raises Forbidden, and ForbiddenTransition
    (409) in any other state.
    """
    if "hub_agent" not in roles:
        raise Forbidden
    order = await orders.lock_order(uow, order_id)
    hub = None if order is None or order.hub_id is None else await find_hub(uow, order.hub_id)
    if order is None or hub is None:
        raise NotFound
    if order.arrived_at is not None:
        return
    if order.status != "dispatched":
        raise ForbiddenTransition(order.status)
    await orders.save_arrival(uow, order, agent_id, now)
    uow.publish(
        OrderArrived(
            order_id=order.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            hub_id=hub.id,
            arrived_at=iso(now),
            number=order.number,
            hub_name=hub.name,
            hub_address=hub.address,
            opening_hours=msgspec.convert(hub.opening_hours, tuple[OpeningPeriod, ...] | None),
        )
    )
