"""Record a quarantined charge of orders."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.order_updates import require_order
from orders.store import orders


async def record_quarantined_charge(uow: UnitOfWork, order_ids: Sequence[UUID], now: datetime) -> Rejection | None:
    """Open every order of the charge to finance, which decides about it. Raises OrderNotReceived."""
    for order_id in sorted(order_ids):
        require_order(await orders.lock_order(uow, order_id), about=order_id)
    saved = [await orders.save_quarantined_charge(uow, order_id, now) for order_id in order_ids]
    return None if any(saved) else Rejection.REPEATED
