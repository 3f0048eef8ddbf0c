"""Watch the first PIN message of an order without a lock."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.pins import FirstWatch, start_first_watches
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext

# They share the round trip of the notifications of the transaction.
_BEFORE_NOTIFICATIONS: Final = -1


def watch_first_pin(
    uow: UnitOfWork, delivery_context: DeliveryContext, notification_id: UUID, order_id: UUID, channel: str
) -> None:
    """Start the watch of an order's first PIN with the last writes of a transaction that has not started.

    They raise TransactionRequired where the order has a watch; `watch_pin` then decides.
    """
    due_at = delivery_context.now + delivery_context.pin_receipt
    watch = FirstWatch(notification_id, order_id, channel, due_at)
    uow.defer(_start_first_watches, watch, rank=_BEFORE_NOTIFICATIONS)


async def _start_first_watches(uow: UnitOfWork, watches: Sequence[FirstWatch]) -> None:
    start_first_watches(uow, watches)
