"""Compose a notification for the recipients of one channel."""

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.channels import Preferences
from notifications.deliveries.domain.deliveries import Contact, NotificationRequest
from notifications.deliveries.domain.errors import AddressMissing, ChannelNotConfigured, ContactUnknown
from notifications.deliveries.domain.templates import check_complete, template_of
from notifications.deliveries.queries.contacts import find_contact
from notifications.deliveries.queries.devices import list_device_ids
from notifications.deliveries.store.notifications import NewNotification
from notifications.deliveries.use_cases.deliveries.compose_notification import compose_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext


async def address_notification(
    uow: UnitOfWork,
    request: NotificationRequest,
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None = None,
    recipient: str | None = None,
    complete: bool = True,
    preferences: Preferences | None = None,
) -> NewNotification:
    """Return the notification with one delivery for each recipient of its channel.

    Raises ChannelNotConfigured, ContactUnknown, AddressMissing and ValidationFailed.
    """
    if request.channel not in delivery_context.channels:
        raise ChannelNotConfigured(request.channel, delivery_context.channels)
    template = template_of(request.template, request.channel)
    if complete:
        secrets = {name: "encrypted" for name in request.encrypted if name != "address"}
        check_complete(template, {**request.parameters, **secrets})
    if contact is None and request.user_id is not None:
        contact = await find_contact(uow, request.user_id)
    recipients = [recipient] if recipient else await _recipients(uow, contact, request, delivery_context)
    addresses = [(request.channel, address) for address in recipients]
    return compose_notification(request, addresses, delivery_context, contact=contact, preferences=preferences)


async def _recipients(
    uow: UnitOfWork, contact: Contact | None, request: NotificationRequest, delivery_context: DeliveryContext
) -> list[str]:
    if contact is None:
        raise ContactUnknown
    channel = request.channel
    if request.template == "delivery_pin" and channel in ("sms", "messaging"):
        recipients = [contact.proven_phone] if contact.proven_phone else []
    elif channel == "push":
        recipients = await list_device_ids(uow, contact.user_id, list(delivery_context.device_kinds))
    else:
        address = contact.address_on(channel)
        recipients = [address] if address else []
    if not recipients:
        raise AddressMissing(channel)
    return recipients
