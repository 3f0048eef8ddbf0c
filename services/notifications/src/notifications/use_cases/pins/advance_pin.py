"""Send a PIN by the next channel, because nobody said that it arrived."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.domain.channels import PIN_CHANNELS
from notifications.domain.deliveries import NotificationRequest
from notifications.domain.errors import AddressMissing, ContactUnknown
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext, deliver_notification


async def advance_pin(uow: UnitOfWork, delivery_context: DeliveryContext, notification_id: UUID) -> str | None:
    """One step of a PIN whose time is up: the channel by which it goes now; None when it was not due, has arrived, or has no further way.

    Each channel is tried once: its delivery is one row, and the watch moves on in the same transaction.
    """
    watch = await store.lock_due_watch(uow, notification_id, delivery_context.now)
    if watch is None:
        return None
    first = await store.find_first_delivery(uow, notification_id)
    is_over = watch["has_arrived"] or first is None or not first["sealed"]
    left = () if is_over else PIN_CHANNELS[PIN_CHANNELS.index(watch["channel"]) + 1 :]
    for channel in left:
        if channel not in delivery_context.channels:
            continue
        wanted = NotificationRequest(
            notification_id,
            channel,
            "delivery_pin",
            {name: value for name, value in first["payload"].items() if name == "orderId"},
            user_id=first["user_id"],
            sealed=store.encrypted_of(first),
        )
        try:
            await deliver_notification(uow, wanted, delivery_context, complete=False)
        except (AddressMissing, ContactUnknown):
            continue
        await store.save_step(uow, notification_id, channel, delivery_context.now + delivery_context.pin_receipt)
        return channel
    await store.finish_watch(uow, notification_id)
    return None
