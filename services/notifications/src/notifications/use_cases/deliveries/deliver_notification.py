"""Record a notification and its deliveries; the worker sends them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
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
from notifications.store import QueuedDelivery
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
    `expect` wakes the dispatcher of this process; it returns False where none runs.
    """

    channels: Collection[str]
    renderer: MessageRenderer
    now: datetime
    expect: Callable[[Iterable[QueuedDelivery]], bool]
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
    addresses = [(request.channel, address) for address in recipients]
    queued = await queue_deliveries(
        uow, request, addresses, delivery_context, contact=contact, in_feed=in_feed, preferences=preferences
    )
    if is_opted_out:
        for delivery in queued:
            recipient = masked(delivery.recipient)
            await store.record_refused_attempt(uow, delivery.id, recipient, SWITCHED_OFF, delivery_context.now)
            await fail_delivery(uow, delivery.id, SWITCHED_OFF, alert=False)
    return recipients


async def queue_deliveries(
    uow: UnitOfWork,
    request: NotificationRequest,
    addresses: Collection[tuple[str, str]],
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None,
    in_feed: bool = True,
    preferences: Preferences | None = None,
) -> Sequence[QueuedDelivery]:
    """Record a notification and one delivery for each (channel, recipient), in one statement; return the new deliveries.

    Raises NotificationIdConflict.
    """
    now, template = delivery_context.now, template_of(request.template, request.channel)
    payload = {**request.parameters, RECIPIENT_NAME: contact.first_name if contact else "there"}
    entry = delivery_context.renderer.feed_entry(request.template, payload) if template.in_feed and in_feed else None
    wanted = [
        QueuedDelivery(new_id(), channel, address, _due_at(request.template, channel, preferences, now))
        for channel, address in addresses
    ]
    recorded = await store.record_notification(uow, request, entry, wanted, payload, now, is_urgent=template.sensitive)
    if recorded is None:
        raise NotificationIdConflict
    queued = [delivery for delivery in wanted if delivery.id in recorded]
    due = [delivery for delivery in queued if delivery.due_at <= now]
    if due and not delivery_context.expect(due):
        store.enqueue_wakeup(uow, due[0].id)
    return queued


def _due_at(template: str, channel: str, preferences: Preferences | None, now: datetime) -> datetime:
    quiet = preferences.quiet_hours_for(template, channel) if preferences else None
    return (quiet.quiet_until(now) if quiet else None) or now


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
