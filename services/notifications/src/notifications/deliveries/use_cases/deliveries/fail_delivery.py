"""Fail a delivery for good."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.deliveries import lock_delivery, save_failed
from notifications.deliveries.use_cases.deliveries.publish_delivery_lost import publish_delivery_lost


async def fail_delivery(uow: UnitOfWork, delivery_id: UUID, reason: str, *, alert: bool = True) -> None:
    """Mark a queued delivery as failed and publish it once."""
    delivery = await lock_delivery(uow, delivery_id)
    if delivery is not None and await save_failed(uow, delivery):
        publish_delivery_lost(uow, delivery, reason, alert=alert)
