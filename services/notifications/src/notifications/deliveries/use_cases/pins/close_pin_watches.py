"""Close the watches of a used PIN."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.deliveries import notification_id_of
from notifications.deliveries.use_cases.pins.close_watches import close_watches


async def close_pin_watches(uow: UnitOfWork, order_id: UUID) -> None:
    """Delete the PIN from all messages, and reject PIN events that arrive later."""
    await close_watches(uow, order_id, notification_id_of("delivery_pin", order_id, "used"))
