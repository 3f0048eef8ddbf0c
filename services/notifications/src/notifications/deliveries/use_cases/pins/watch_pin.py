"""Watch a PIN message, so that it uses another channel without a receipt."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.pins import lock_watches_or_start, start_watch
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext
from notifications.deliveries.use_cases.pins.close_watches import close_watches


async def watch_pin(
    uow: UnitOfWork, delivery_context: DeliveryContext, notification_id: UUID, order_id: UUID, issue: int, channel: str
) -> bool:
    """Start the watch of a PIN and close those of older ones.

    Return False when the PIN is obsolete: a newer one exists, or the order was delivered.
    """
    due_at = delivery_context.now + delivery_context.pin_receipt
    watches = await lock_watches_or_start(uow, notification_id, order_id, issue, channel, due_at)
    if not watches:
        return True
    if any((watch.is_over and watch.issue >= issue) or watch.issue > issue for watch in watches):
        return False
    if all(watch.issue < issue for watch in watches):
        await close_watches(uow, order_id)
    await start_watch(uow, notification_id, order_id, issue, channel, due_at)
    return True
