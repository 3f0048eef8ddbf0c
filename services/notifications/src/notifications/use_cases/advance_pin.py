"""Send a PIN by the next channel, because nobody said that it arrived."""

from uuid import UUID

from common.database import UnitOfWork
from notifications import store
from notifications.domain.deliveries import Wanted
from notifications.domain.errors import AddressMissing, ContactUnknown
from notifications.domain.ways import PIN_WAYS
from notifications.use_cases.deliver_notification import Desk, deliver_notification


async def advance_pin(uow: UnitOfWork, desk: Desk, notification_id: UUID) -> str | None:
    """One step of a PIN whose time is up: the channel by which it goes now; None when it was not due, has arrived, or has no further way.

    Each channel is tried once: its delivery is one row, and the watch moves on in the same transaction.
    """
    watch = await store.lock_due_watch(uow, notification_id, desk.now)
    if watch is None:
        return None
    first = await store.find_first_delivery(uow, notification_id)
    is_over = watch["has_arrived"] or first is None or not first["sealed"]
    left = () if is_over else PIN_WAYS[PIN_WAYS.index(watch["channel"]) + 1 :]
    for channel in left:
        if channel not in desk.channels:
            continue
        wanted = Wanted(
            notification_id,
            channel,
            "delivery_pin",
            {name: value for name, value in first["payload"].items() if name == "orderId"},
            user_id=first["user_id"],
            sealed=store.sealed_of(first),
        )
        try:
            await deliver_notification(uow, wanted, desk, complete=False)
        except (AddressMissing, ContactUnknown):
            continue
        await store.save_step(uow, notification_id, channel, desk.now + desk.pin_receipt)
        return channel
    await store.finish_watch(uow, notification_id)
    return None
