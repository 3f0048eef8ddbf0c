"""Watch the first PIN message of an order without a lock."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.pins import start_first_watch
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext


def watch_first_pin(
    uow: UnitOfWork, delivery_context: DeliveryContext, notification_id: UUID, order_id: UUID, channel: str
) -> None:
    """Start the watch of an order's first PIN with the last writes of a transaction that has not started.

    They raise TransactionRequired where the order has a watch; `watch_pin` then decides.
    """
    due_at = delivery_context.now + delivery_context.pin_receipt
    start_first_watch(uow, notification_id, order_id, channel, due_at)
