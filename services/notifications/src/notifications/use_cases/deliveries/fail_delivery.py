"""Give a message up: nobody will try again, and somebody must look."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.use_cases.deliveries.publish_delivery_lost import publish_delivery_lost


async def fail_delivery(uow: UnitOfWork, delivery_id: UUID, reason: str, *, alert: bool = True) -> None:
    """Marks a delivery as failed and says so, once."""
    row = await store.lock_delivery(uow, delivery_id)
    if row is not None and await store.save_given_up(uow, row):
        await publish_delivery_lost(uow, row, reason, alert=alert)
