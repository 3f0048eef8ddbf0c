"""Handlers of orders' events.

A notification to both parties has one text without names and a handler for each party.
"""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Outcome, Received
from common.primitives.json_records import JsonObject
from contracts.orders import (
    DeliveryPinIssued,
    DisputeResolved,
    MessagePosted,
    OrderArrived,
    OrderCancelled,
    OrderDelivered,
    OrderDispatched,
    OrderDisputed,
    OrderExpired,
    OrderLineCancelled,
    OrderPlaced,
    ProductDelisted,
    ProductRelisted,
    ReturnDecided,
    ReturnRequested,
    SavedProductChanged,
)
from notifications.deliveries.consumers.subject_parameters import order_parameters
from notifications.deliveries.domain.deliveries import (
    EncryptedValue,
    NotificationRequest,
    notification_id_of,
    pin_channel,
)
from notifications.deliveries.domain.opening_hours import Period, hours_text
from notifications.deliveries.domain.pin_texts import SharedPin
from notifications.deliveries.queries.contacts import (
    Requested,
    get_recipients,
    list_agents_of_hub,
    payment_is_under_review,
)
from notifications.deliveries.queries.feed import is_streaming
from notifications.deliveries.store.contacts import PlacedOrder, save_order_summary
from notifications.deliveries.use_cases.deliveries.defer_notification import defer_notification
from notifications.deliveries.use_cases.deliveries.notify_shop import notify_shop
from notifications.deliveries.use_cases.deliveries.notify_user import notify_user
from notifications.deliveries.use_cases.deliveries.record_together import UserNotification, record_together
from notifications.deliveries.use_cases.pins.close_pin_watches import close_pin_watches
from notifications.deliveries.use_cases.pins.share_pin_text import share_pin_text
from notifications.deliveries.use_cases.pins.watch_first_pin import watch_first_pin
from notifications.deliveries.use_cases.pins.watch_pin import watch_pin
from notifications.dependencies import Dependencies


async def on_order_placed(event: OrderPlaced, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    """Store the summary for the confirmation, which follows the payment."""
    items = [
        {"name": item.name, "quantity": item.quantity, "lineTotalMinor": item.line_total_minor} for item in event.items
    ]
    order = PlacedOrder(
        event.order_id,
        event.vendor_id,
        event.total_minor,
        event.delivery_fee_minor,
        items,
        event.buyer_id,
        event.number,
    )
    await save_order_summary(uow, order)


async def on_delivery_pin_issued(
    event: DeliveryPinIssued, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    """Send the PIN, encrypted until then. Each issue is a message of its own and closes the watches of older ones."""
    delivery_context = dependencies.delivery_context()
    kinds = delivery_context.device_kinds
    requested = Requested(event.buyer_id, None, with_members=False)
    [[recipient]] = await get_recipients(uow, [requested], kinds, delivery_context.now)
    contact = recipient.contact
    if contact.is_erased:
        return Outcome.IGNORED
    parameters = await order_parameters(uow, event)
    notification_id = notification_id_of("delivery_pin", event.order_id, event.issue)
    channel, template = pin_channel(contact)
    if channel != "sms":
        message = UserNotification(delivery_context, event.buyer_id, template, parameters, notification_id)
        uow.defer(record_together, message)
        return Outcome.APPLIED
    if event.paid_orders is not None:
        # The texts of a payment are locked after the watches of one order.
        uow.require_alone()
    secret = EncryptedValue(event.pin_sealed, str(event.order_id))
    shared = _shared_pin(event, secret)
    if event.issue == 1 and shared is None and not uow.is_started:
        watch_first_pin(uow, delivery_context, notification_id, event.order_id, channel)
    elif not await watch_pin(uow, delivery_context, notification_id, event.order_id, event.issue, channel):
        return Outcome.STALE
    if shared is not None:
        await share_pin_text(uow, delivery_context, notification_id, shared, contact)
        return Outcome.APPLIED
    secrets = {"pin": secret}
    request = NotificationRequest(
        notification_id, channel, template, parameters, user_id=event.buyer_id, encrypted=secrets
    )
    await defer_notification(uow, request, delivery_context, contact=contact, is_streamed=recipient.is_streamed)
    return Outcome.APPLIED


def _shared_pin(event: DeliveryPinIssued, secret: EncryptedValue) -> SharedPin | None:
    """Return the first PIN of an order that a payment paid with others; None for any other PIN."""
    reference, number, paid_orders = event.payment_reference, event.number, event.paid_orders
    if event.issue != 1 or reference is None or number is None or paid_orders is None:
        return None
    return SharedPin(event.order_id, number, event.buyer_id, secret, reference, paid_orders)


async def on_order_dispatched(
    event: OrderDispatched, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        "order_dispatched",
        await order_parameters(uow, event),
        event.order_id,
        vendor_id=event.vendor_id,
    )


async def notify_hub_on_order_dispatched(
    event: OrderDispatched, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify each agent of the order's hub of the coming parcel."""
    if event.hub_id is None:
        return
    parameters = await order_parameters(uow, event)
    for user_id in await list_agents_of_hub(uow, event.hub_id):
        notify_user(
            uow,
            dependencies.delivery_context(),
            user_id,
            "parcel_coming",
            parameters,
            event.order_id,
            user_id,
            vendor_id=event.vendor_id,
        )


async def on_order_line_cancelled(
    event: OrderLineCancelled, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    line: JsonObject = {
        "productName": event.product_name,
        "amountMinor": event.amount_minor,
        "reason": event.reason,
    }
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        "order_line_cancelled",
        {**await order_parameters(uow, event), **line},
        event.item_id,
        vendor_id=event.vendor_id,
    )


async def on_order_arrived(
    event: OrderArrived, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    place: JsonObject = {"hubName": event.hub_name}
    if event.hub_address is not None:
        place["hubAddress"] = event.hub_address
    if event.opening_hours:
        place["openingHours"] = hours_text([Period(one.day, one.opens, one.closes) for one in event.opening_hours])
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        "order_arrived",
        {**await order_parameters(uow, event), **place},
        event.order_id,
        vendor_id=event.vendor_id,
    )


async def on_order_delivered(
    event: OrderDelivered, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await close_pin_watches(uow, event.order_id)
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        "order_delivered",
        await order_parameters(uow, event),
        event.order_id,
        vendor_id=event.vendor_id,
    )


async def on_return_requested(
    event: ReturnRequested, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = await order_parameters(uow, event)
    about = event.return_request_id
    notify_shop(
        uow,
        dependencies.delivery_context(),
        event.vendor_id,
        "return_requested",
        parameters,
        about,
        subject_id=event.return_request_id,
    )


async def on_return_decided(
    event: ReturnDecided, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    decided: JsonObject = {"outcome": event.outcome, "refundMinor": event.refund_minor}
    given = {name: value for name, value in decided.items() if value is not None}
    parameters = {**given, **await order_parameters(uow, event)}
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        "return_request_update",
        parameters,
        event.return_request_id,
        subject_id=event.return_request_id,
    )


async def on_order_cancelled(
    event: OrderCancelled, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the buyer only: vendors are not notified of unpaid orders."""
    await _notify_closed(event, uow, dependencies, "order_cancelled")


async def on_order_expired(
    event: OrderExpired, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await _notify_closed(event, uow, dependencies, "order_expired")


async def _notify_closed(
    event: OrderCancelled | OrderExpired, uow: UnitOfWork, dependencies: Dependencies, template: str
) -> None:
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        await _closing_template(uow, event.order_id, template),
        await order_parameters(uow, event),
        event.order_id,
        vendor_id=event.vendor_id,
    )


async def _closing_template(uow: UnitOfWork, order_id: UUID, template: str) -> str:
    """Return the template of a closed order; a quarantined payment has a text of its own (contract section 7.6)."""
    return "order_closed_under_review" if await payment_is_under_review(uow, order_id) else template


async def on_order_disputed(
    event: OrderDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Omit the reason: it may contain the buyer's contact data."""
    parameters = await order_parameters(uow, event)
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        "dispute_opened",
        parameters,
        event.order_id,
        event.buyer_id,
    )


async def alert_shop_on_order_disputed(
    event: OrderDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = await order_parameters(uow, event)
    context, about = dependencies.delivery_context(), (event.order_id, event.vendor_id)
    notify_shop(uow, context, event.vendor_id, "dispute_opened", parameters, *about)


async def on_product_delisted(
    event: ProductDelisted, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify of each takedown."""
    await _notify_of_listing(event, "product_delisted", uow, dependencies)


async def on_product_relisted(
    event: ProductRelisted, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await _notify_of_listing(event, "product_relisted", uow, dependencies)


async def _notify_of_listing(
    event: ProductDelisted | ProductRelisted, template: str, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters: JsonObject = {
        "productId": str(event.product_id),
        "productName": event.name,
        "reason": event.reason,
    }
    context = dependencies.delivery_context()
    notify_shop(uow, context, event.vendor_id, template, parameters, event.takedown_id)


async def on_dispute_resolved(
    event: DisputeResolved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    about = (event.order_id, event.outcome, event.refund_id, event.buyer_id)
    notify_user(
        uow, dependencies.delivery_context(), event.buyer_id, "dispute_resolved", await _decision(uow, event), *about
    )


async def notify_shop_on_dispute_resolved(
    event: DisputeResolved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    about = (event.order_id, event.outcome, event.refund_id, event.vendor_id)
    context = dependencies.delivery_context()
    notify_shop(uow, context, event.vendor_id, "dispute_resolved", await _decision(uow, event), *about)


async def _decision(uow: UnitOfWork, event: DisputeResolved) -> JsonObject:
    return {
        **await order_parameters(uow, event),
        "outcome": event.outcome,
        "refundMinor": event.refund_minor,
        "releaseMinor": event.release_minor,
    }


async def on_saved_product_changed(
    event: SavedProductChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the savers of one event together, each once for each change."""
    parameters: JsonObject = {
        "productId": str(event.product_id),
        "productName": event.name,
        "priceMinor": event.price_minor,
    }
    for buyer_id in event.buyer_ids:
        notify_user(
            uow,
            dependencies.delivery_context(),
            buyer_id,
            event.kind,
            parameters,
            event.change_id,
            buyer_id,
            vendor_id=event.vendor_id,
        )


async def on_message_posted(
    event: MessagePosted, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    """Notify a reader whose stream is closed; orders allows one a minute for each conversation."""
    if not event.notifies or await is_streaming(uow, event.reader_id, dependencies.clock.now()):
        return Outcome.IGNORED
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.reader_id,
        "new_message",
        {"conversationId": str(event.conversation_id)},
        event.message_id,
    )
    return Outcome.APPLIED
