"""What is heard from orders."""

from typing import Any

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received
from common.observability import telemetry
from contracts.orders import (
    DeliveryPinIssued,
    OrderDelivered,
    OrderDispatched,
    OrderPlaced,
    ReturnDecided,
    ReturnRequested,
)
from notifications import queries, store
from notifications.consumers.notifying import notify, notify_vendor, vendor_of
from notifications.dependencies import Dependencies
from notifications.domain.deliveries import EncryptedValue, NotificationRequest, notification_id_of, pin_channel
from notifications.domain.errors import ContactUnknown
from notifications.use_cases.deliveries.deliver_notification import deliver_notification
from notifications.use_cases.deliveries.notify_user import notify_user
from notifications.use_cases.pins.end_pin import end_pin
from notifications.use_cases.pins.watch_pin import watch_pin


async def on_order_placed(event: OrderPlaced, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    """Keeps what the confirmation will tell; nobody is told before the order is paid."""
    items = [
        {"name": item.name, "quantity": item.quantity, "lineTotalMinor": item.line_total_minor} for item in event.items
    ]
    await store.save_order_summary(
        uow, event.order_id, event.vendor_id, event.total_minor, event.delivery_fee_minor, items, event.buyer_id
    )


async def on_delivery_pin_issued(
    event: DeliveryPinIssued, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The PIN stays sealed until the moment of sending. Each issue is a message of its own, and ends those before it."""
    contact = await queries.find_contact(uow, event.buyer_id)
    if contact is None:
        raise ContactUnknown
    if contact.is_erased:
        return
    parameters = {"orderId": str(event.order_id)}
    notification_id = notification_id_of("delivery_pin", event.order_id, event.issue)
    channel, template = pin_channel(contact)
    delivery_context = dependencies.delivery_context()
    if channel != "sms":
        await notify_user(uow, delivery_context, event.buyer_id, template, parameters, notification_id)
        return
    if not await watch_pin(uow, delivery_context, notification_id, event.order_id, event.issue, channel):
        telemetry.STALE_EVENTS.labels(received.type).inc()
        return
    secrets = {"pin": EncryptedValue(event.pin_sealed, str(event.order_id))}
    wanted = NotificationRequest(notification_id, channel, template, parameters, user_id=event.buyer_id, sealed=secrets)
    await deliver_notification(uow, wanted, delivery_context, contact=contact)


async def on_order_dispatched(
    event: OrderDispatched, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    vendor = await vendor_of(uow, event.vendor_id)
    parameters = {"orderId": str(event.order_id), "businessName": vendor["business_name"]}
    await notify(uow, dependencies, event.buyer_id, "order_dispatched", parameters, event.order_id)


async def on_order_delivered(
    event: OrderDelivered, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await end_pin(uow, event.order_id)
    vendor = await vendor_of(uow, event.vendor_id)
    parameters = {"orderId": str(event.order_id), "businessName": vendor["business_name"]}
    await notify(uow, dependencies, event.buyer_id, "order_delivered", parameters, event.order_id)


async def on_return_requested(
    event: ReturnRequested, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The vendor has something to decide."""
    parameters = {"orderId": str(event.order_id)}
    about = event.return_request_id
    await notify_vendor(uow, dependencies, event.vendor_id, "return_requested", parameters, about)


async def on_return_decided(
    event: ReturnDecided, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    decided: dict[str, Any] = {"outcome": event.outcome, "refundMinor": event.refund_minor}
    parameters = {name: value for name, value in decided.items() if value is not None}
    parameters["orderId"] = str(event.order_id)
    await notify(uow, dependencies, event.buyer_id, "return_request_update", parameters, event.return_request_id)
