"""Put a PIN into the text message of its payment."""

from dataclasses import replace
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.deliveries import Contact, NotificationRequest
from notifications.deliveries.domain.pin_texts import (
    PIN_TEXT_ORDERS_MAX,
    PIN_TEXT_WAIT,
    SharedPin,
    secret_name,
)
from notifications.deliveries.store import pins
from notifications.deliveries.store.deliveries import enqueue_wakeup
from notifications.deliveries.store.notifications import NewNotification
from notifications.deliveries.use_cases.deliveries.address_notification import address_notification
from notifications.deliveries.use_cases.deliveries.compose_notification import compose_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext, record_deliveries


async def share_pin_text(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    notification_id: UUID,
    pin: SharedPin,
    contact: Contact,
) -> None:
    """Record the order's notification, and send its PIN in one text with the other PINs of its payment.

    A repetition changes nothing. The watch of the PIN exists and is locked; no other message shares the transaction.
    """
    await pins.lock_payment(uow, pin.payment_reference)
    # Feeds are locked before deliveries. The feed shows each order by itself.
    shown = NotificationRequest(notification_id, "sms", "delivery_pin", pin.entry, user_id=pin.buyer_id)
    entry = compose_notification(shown, (), delivery_context, contact=contact)
    await record_deliveries(uow, delivery_context, [entry])
    # Each text has at least one order.
    text_ids = [pin.text_id(number) for number in range(1, pin.paid_orders + 2)]
    texts = await pins.lock_pin_texts(uow, text_ids)
    if any(str(pin.order_id) in text.order_ids for text in texts):
        return
    new_text = await _compose_text(uow, delivery_context, pin, text_ids[len(texts)], contact)
    open_text = next((text for text in texts if text.admits(new_text.deliveries[0].recipient)), None)
    is_complete = sum(len(text.order_ids) for text in texts) + 1 >= pin.paid_orders
    now = delivery_context.now
    if open_text is None:
        due_at = now if is_complete else now + PIN_TEXT_WAIT
        waiting = replace(new_text, deliveries=[one._replace(due_at=due_at) for one in new_text.deliveries])
        await record_deliveries(uow, delivery_context, [waiting])
        await pins.save_text_of_watch(uow, notification_id, new_text.request.notification_id)
        return
    await pins.save_text_of_watch(uow, notification_id, open_text.notification_id)
    is_full = len(open_text.order_ids) + 1 == PIN_TEXT_ORDERS_MAX
    await pins.add_to_text(uow, open_text.delivery_id, pin, now if is_complete or is_full else None)
    if is_complete or is_full:
        _wake(uow, delivery_context, open_text.delivery_id)


async def _compose_text(
    uow: UnitOfWork, delivery_context: DeliveryContext, pin: SharedPin, text_id: UUID, contact: Contact
) -> NewNotification:
    """Return a text with this PIN alone, which the feed does not show: each order has an entry of its own."""
    request = NotificationRequest(
        text_id,
        "sms",
        "delivery_pin",
        {"orders": [pin.entry]},
        user_id=pin.buyer_id,
        encrypted={secret_name(pin.order_id): pin.secret},
    )
    composed = await address_notification(uow, request, delivery_context, contact=contact, complete=False)
    return replace(composed, entry=None)


def _wake(uow: UnitOfWork, delivery_context: DeliveryContext, delivery_id: UUID) -> None:
    dispatcher = delivery_context.dispatcher
    if not dispatcher.is_running:
        enqueue_wakeup(uow, delivery_id)
        return

    def wake(is_committed: bool) -> None:
        if is_committed:
            dispatcher.wake()

    uow.on_end(wake)
