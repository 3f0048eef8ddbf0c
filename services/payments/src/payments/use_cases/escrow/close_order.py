"""Close the projection of an order that was cancelled or expired before its payment."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.errors import SubjectUnknown
from payments.store import projections
from payments.use_cases.balances.return_hold import return_hold


async def close_order(uow: UnitOfWork, order_id: UUID, status: Literal["cancelled", "expired"], now: datetime) -> bool:
    """Close the order and its live intents; False for a paid order, which stays paid. Raises SubjectUnknown."""
    current = await projections.lock_order_status(uow, order_id)
    if current is None:
        raise SubjectUnknown(f"order {order_id} is {status}, and its order_placed has not arrived")
    if current != "Processing":
        return False
    await projections.save_order_closed(uow, order_id, status)
    for intent_id in await projections.close_live_intents(uow, order_id):
        await return_hold(uow, intent_id, now)
    return True
