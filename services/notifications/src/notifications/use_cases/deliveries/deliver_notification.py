"""Record a notification and its deliveries; the worker sends them."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications import queries, store
from notifications.domain.channels import Preferences
from notifications.domain.deliveries import Contact, NotificationRequest, masked
from notifications.domain.errors import (
    AddressMissing,
    ChannelNotConfigured,
    ContactUnknown,
)
from notifications.domain.templates import check_complete, template_of
from notifications.store import NewNotification
from notifications.use_cases.deliveries.compose_notification import compose_notification
from notifications.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.use_cases.deliveries.notify_user import defer_composed
from notifications.use_cases.deliveries.record_deliveries import DeliveryContext, record_deliveries

SWITCHED_OFF: Final = "the user has switched this channel off"


async def defer_notification(
    uow: UnitOfWork,
    request: NotificationRequest,
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None = None,
    recipient: str | None = None,
) -> None:
    """Record a notification and its deliveries before the commit, with all others of the transaction.

    For events, whose transactions contain messages to several users. Raises as `deliver_notification`.
    """
    notification = await _compose(uow, request, delivery_context, contact=contact, recipient=recipient)
    defer_composed(uow, delivery_context, notification)


async def deliver_notification(
    uow: UnitOfWork,
    request: NotificationRequest,
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None = None,
    recipient: str | None = None,
    in_feed: bool = True,
    complete: bool = True,
    preferences: Preferences | None = None,
    is_opted_out: bool = False,
) -> list[str]:
    """Record a notification and one delivery for each recipient, each once; return the recipients.

    Consumers and deliver-notification share it (contract section 12). A push has one delivery for each device. Pass `contact`
    if it is loaded, and a masked `recipient` when the address is encrypted. With `complete` every parameter is required.
    Quiet hours of `preferences` postpone the delivery. With `is_opted_out` the delivery fails without an alert.
    Raises ChannelNotConfigured, ContactUnknown, AddressMissing, NotificationIdConflict and ValidationFailed.
    """
    notification = await _compose(
        uow,
        request,
        delivery_context,
        contact=contact,
        recipient=recipient,
        in_feed=in_feed,
        complete=complete,
        preferences=preferences,
    )
    queued = await record_deliveries(uow, delivery_context, [notification], is_sent_here=not is_opted_out)
    if is_opted_out:
        for delivery in queued:
            recipient = masked(delivery.recipient)
            await store.record_refused_attempt(uow, delivery.id, recipient, SWITCHED_OFF, delivery_context.now)
            await fail_delivery(uow, delivery.id, SWITCHED_OFF, alert=False)
    return [delivery.recipient for delivery in notification.deliveries]


async def _compose(
    uow: UnitOfWork,
    request: NotificationRequest,
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None,
    recipient: str | None,
    in_feed: bool = True,
    complete: bool = True,
    preferences: Preferences | None = None,
) -> NewNotification:
    if request.channel not in delivery_context.channels:
        raise ChannelNotConfigured(request.channel, delivery_context.channels)
    template = template_of(request.template, request.channel)
    if complete:
        secrets = {name: "encrypted" for name in request.encrypted if name != "address"}
        check_complete(template, {**request.parameters, **secrets})
    if contact is None and request.user_id is not None:
        contact = await queries.find_contact(uow, request.user_id)
    recipients = [recipient] if recipient else await _recipients(uow, contact, request, delivery_context)
    addresses = [(request.channel, address) for address in recipients]
    return compose_notification(
        request, addresses, delivery_context, contact=contact, in_feed=in_feed, preferences=preferences
    )


async def _recipients(
    uow: UnitOfWork, contact: Contact | None, request: NotificationRequest, delivery_context: DeliveryContext
) -> list[str]:
    if contact is None:
        raise ContactUnknown
    channel = request.channel
    if request.template == "delivery_pin" and channel in ("sms", "messaging"):
        recipients = [contact.proven_phone] if contact.proven_phone else []
    elif channel == "push":
        recipients = await queries.list_device_ids(uow, contact.user_id, list(delivery_context.device_kinds))
    else:
        address = contact.address_on(channel)
        recipients = [address] if address else []
    if not recipients:
        raise AddressMissing(channel)
    return recipients
