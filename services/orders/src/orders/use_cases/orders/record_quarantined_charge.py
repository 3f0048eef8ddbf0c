"""Record a quarantined charge of an order."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.order_updates import require_order
from orders.store import orders


async def record_quarantined_charge(uow: UnitOfWork, order_id: UUID, now: datetime) -> Rejection | None:
    """Open the order to finance, which decides about the charge. Raises OrderNotReceived."""
    require_order(await orders.lock_order(uow, order_id), about=order_id)
    return None if await orders.save_quarantined_charge(uow, order_id, now) else Rejection.REPEATED
