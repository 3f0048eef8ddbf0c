"""Close payments' view of an order that was cancelled or expired before it was paid."""

from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payments import store
from payments.domain.errors import SubjectUnknown


async def close_order(uow: UnitOfWork, order_id: UUID, status: Literal["cancelled", "expired"]) -> None:
    """A paid order stays paid: the late news is ignored and counted. Raises SubjectUnknown before the order is known."""
    standing = await store.lock_order_status(uow, order_id)
    if standing is None:
        raise SubjectUnknown("the end of an order that is not known yet")
    if standing != "Processing":
        STALE_EVENTS.labels(f"orders.order_{status}").inc()
        return
    await store.save_order_status(uow, order_id, status)
    await store.close_live_intents(uow, order_id)
