"""Watch a PIN message, so that it uses another channel without a receipt."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.use_cases.deliveries.record_deliveries import DeliveryContext

# After the notifications of the transaction are recorded: feeds are locked before deliveries, and a PIN of the same
# transaction is deleted too.
_DROP_RANK: Final = 1


async def watch_pin(
    uow: UnitOfWork, delivery_context: DeliveryContext, notification_id: UUID, order_id: UUID, issue: int, channel: str
) -> bool:
    """Start the watch of a PIN and close those of older ones.

    Return False when the PIN is obsolete: a newer one exists, or the order was delivered.
    """
    watches = await store.lock_watches(uow, order_id)
    if any((watch.is_over and watch.issue >= issue) or watch.issue > issue for watch in watches):
        return False
    if watches and all(watch.issue < issue for watch in watches):
        await close_watches(uow, order_id)
    due_at = delivery_context.now + delivery_context.pin_receipt
    await store.start_watch(uow, notification_id, order_id, issue, channel, due_at)
    return True


async def close_watches(uow: UnitOfWork, order_id: UUID) -> None:
    """Close the watches of an order's PINs, which are deleted from their messages before the commit.

    The deliveries of all orders of the transaction are locked together, by id.
    """
    for notification_id in await store.close_watches(uow, order_id):
        uow.defer(_drop_secrets, notification_id, rank=_DROP_RANK)


async def _drop_secrets(uow: UnitOfWork, notification_ids: Sequence[UUID]) -> None:
    await store.drop_secrets(uow, notification_ids)
