"""Dispatch an order as a packer of its shop."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.order_roles import PACKER
from orders.domain.orders import Windows
from orders.store import orders
from orders.use_cases.orders.dispatch_order import dispatch_order


async def dispatch_packed_order(uow: UnitOfWork, order_id: UUID, by: UUID, now: datetime, windows: Windows) -> None:
    """Dispatch the order that the packer `by` sees. Raises NotFound and the errors of `dispatch_order`."""
    found = await orders.find_order(uow, order_id)
    if found is None:
        raise NotFound
    await dispatch_order(uow, found, PACKER, by=by, now=now, windows=windows)
