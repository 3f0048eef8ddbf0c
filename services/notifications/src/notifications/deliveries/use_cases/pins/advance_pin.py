"""Forward a delivery PIN without a receipt to the next channel."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import JsonObject
from notifications.deliveries.domain.channels import PIN_CHANNELS
from notifications.deliveries.domain.deliveries import EncryptedValue, NotificationRequest
from notifications.deliveries.domain.errors import AddressMissing, ContactUnknown
from notifications.deliveries.domain.pin_texts import orders_in, secret_name
from notifications.deliveries.store import pins
from notifications.deliveries.store.deliveries import encrypted_of
from notifications.deliveries.store.pins import PinDelivery
from notifications.deliveries.use_cases.deliveries.deliver_notification import deliver_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext


async def advance_pin(uow: UnitOfWork, delivery_context: DeliveryContext, notification_id: UUID) -> str | None:
    """Return the next channel of a due PIN; None when it is not due, has arrived, or has no further channel.

    Each channel is tried once: its delivery is one row, and the watch advances in the same transaction.
    """
    watch = await pins.lock_due_watch(uow, notification_id, delivery_context.now)
    if watch is None:
        return None
    delivery = await pins.find_first_delivery(uow, notification_id)
    pin = None if delivery is None else _pin_in(delivery)
    if delivery is not None and pin is not None and not watch.has_arrived:
        for channel in PIN_CHANNELS[PIN_CHANNELS.index(watch.channel) + 1 :]:
            if channel not in delivery_context.channels:
                continue
            request = NotificationRequest(
                notification_id,
                channel,
                "delivery_pin",
                _order_in(delivery),
                user_id=delivery.user_id,
                encrypted={"pin": pin},
            )
            try:
                await deliver_notification(uow, request, delivery_context, complete=False)
            except (AddressMissing, ContactUnknown):
                continue
            due_at = delivery_context.now + delivery_context.pin_receipt
            await pins.save_step(uow, notification_id, channel, due_at)
            return channel
    await pins.finish_watch(uow, notification_id)
    return None


def _pin_in(delivery: PinDelivery) -> EncryptedValue | None:
    """Return the encrypted PIN of the watch's order; None after its use."""
    secrets = encrypted_of(delivery.sealed)
    return secrets.get("pin") or secrets.get(secret_name(delivery.order_id or ""))


def _order_in(delivery: PinDelivery) -> JsonObject:
    """Return the parameters that name the order, which a text for several orders has in a list."""
    named = next(
        (order for order in orders_in(delivery.payload) if order["orderId"] == str(delivery.order_id)), delivery.payload
    )
    return {name: value for name, value in named.items() if name in ("orderId", "orderNumber")}
