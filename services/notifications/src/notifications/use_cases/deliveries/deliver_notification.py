"""Record a notification and its deliveries; the worker sends them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications import queries, store
from notifications.domain.channels import Preferences
from notifications.domain.deliveries import Contact, NotificationRequest, masked
from notifications.domain.errors import (
    AddressMissing,
    ChannelNotConfigured,
    ContactUnknown,
    NotificationIdConflict,
)
from notifications.domain.templates import check_complete, template_of
from notifications.templates.renderer import RECIPIENT_NAME, MessageRenderer
from notifications.use_cases.deliveries.fail_delivery import fail_delivery

# Time for a delivery receipt of a PIN. The next channel must be faster than the patience of a buyer at the handover.
PIN_RECEIPT: Final = timedelta(seconds=90)
EVERY_KIND: Final = ("web", "android", "ios")
SWITCHED_OFF: Final = "the user has switched this channel off"


@dataclass(frozen=True, slots=True)
class DeliveryContext:
    """The configured channels, the renderer and the current time.

    `device_kinds` are the kinds of devices that a push reaches; `pin_receipt` is the time limit of a PIN's receipt.
    """

    channels: Collection[str]
    renderer: MessageRenderer
    now: datetime
    device_kinds: Collection[str] = EVERY_KIND
    pin_receipt: timedelta = PIN_RECEIPT


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
    if request.channel not in delivery_context.channels:
        raise ChannelNotConfigured(request.channel, delivery_context.channels)
    template = template_of(request.template, request.channel)
    if complete:
        secrets = {name: "encrypted" for name in request.encrypted if name != "address"}
        check_complete(template, {**request.parameters, **secrets})
    if contact is None and request.user_id is not None:
        contact = await queries.find_contact(uow, request.user_id)
    recipients = [recipient] if recipient else await _recipients(uow, contact, request.channel, delivery_context)
    payload = {**request.parameters, RECIPIENT_NAME: contact.first_name if contact else "there"}
    entry = delivery_context.renderer.feed_entry(request.template, payload) if template.in_feed and in_feed else None
    if not await store.record_notification_if_new(uow, request, entry, delivery_context.now):
        raise NotificationIdConflict
    quiet = preferences.quiet_hours_for(request.template, request.channel) if preferences else None
    due_at = quiet.quiet_until(delivery_context.now) if quiet else None
    for address in recipients:
        delivery_id = await store.record_delivery_if_new(uow, request, address, payload, delivery_context.now, due_at)
        if delivery_id is None:
            continue
        if is_opted_out:
            await store.record_refused_attempt(uow, delivery_id, masked(address), SWITCHED_OFF, delivery_context.now)
            await fail_delivery(uow, delivery_id, SWITCHED_OFF, alert=False)
        elif due_at is None:
            store.enqueue_delivery(uow, delivery_id, request.channel)
    return recipients


async def _recipients(
    uow: UnitOfWork, contact: Contact | None, channel: str, delivery_context: DeliveryContext
) -> list[str]:
    if contact is None:
        raise ContactUnknown
    if channel == "push":
        recipients = await queries.list_device_ids(uow, contact.user_id, list(delivery_context.device_kinds))
    else:
        address = contact.address_on(channel)
        recipients = [address] if address else []
    if not recipients:
        raise AddressMissing(channel)
    return recipients
