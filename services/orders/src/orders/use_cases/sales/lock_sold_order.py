"""Lock the order of an event about its money."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.order_updates import require_order
from orders.store import orders
from orders.store.orders import SoldOrder


async def lock_sold_order(uow: UnitOfWork, order_id: UUID) -> SoldOrder:
    """Return the locked order with what its money is divided by. Raises OrderNotReceived."""
    return require_order(await orders.lock_sold_order(uow, order_id), about=order_id)
