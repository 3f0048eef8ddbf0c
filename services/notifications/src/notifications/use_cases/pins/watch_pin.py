"""Watch over a PIN on its way, so that it arrives by another channel when nobody says that it did."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext


async def watch_pin(
    uow: UnitOfWork, delivery_context: DeliveryContext, notification_id: UUID, order_id: UUID, issue: int, channel: str
) -> bool:
    """Begins the watch over a PIN of an order, and ends those over its older ones; whether this PIN still opens anything.

    False when a newer PIN is known, or the order was delivered: nobody is to be sent this one.
    """
    known = await store.lock_watches(uow, order_id)
    if any((row["is_over"] and row["issue"] >= issue) or row["issue"] > issue for row in known):
        return False
    if all(row["issue"] < issue for row in known):
        await store.end_watches(uow, order_id)
    due_at = delivery_context.now + delivery_context.pin_receipt
    await store.start_watch(uow, notification_id, order_id, issue, channel, due_at)
    return True
