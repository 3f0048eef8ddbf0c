"""Write down that somebody is to be told something; the worker sends it."""

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
    NotificationIdTaken,
)
from notifications.domain.templates import check_complete, template_of
from notifications.templates.renderer import GREETED, MessageRenderer
from notifications.use_cases.deliveries.fail_delivery import fail_delivery

# A person who has it reads it within a minute or not at all; the next channel must come before the buyer gives up at the door.
PIN_RECEIPT: Final = timedelta(seconds=90)
EVERY_KIND: Final = ("web", "android", "ios")
SWITCHED_OFF: Final = "the user has switched this channel off"


@dataclass(frozen=True, slots=True)
class DeliveryContext:
    """What the writing down needs to know: the channels that have a provider here, the words, and the present instant.

    `device_kinds` are the kinds of devices that a push reaches; `pin_receipt` is how long a PIN waits for its receipt.
    """

    channels: Collection[str]
    words: MessageRenderer
    now: datetime
    device_kinds: Collection[str] = EVERY_KIND
    pin_receipt: timedelta = PIN_RECEIPT


async def deliver_notification(
    uow: UnitOfWork,
    wanted: NotificationRequest,
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None = None,
    recipient: str | None = None,
    in_feed: bool = True,
    complete: bool = True,
    preferences: Preferences | None = None,
    is_refused: bool = False,
) -> list[str]:
    """Records a notification and its delivery once for each (notification, channel, recipient); the recipients.

    The same call of consumers and of deliver-notification (contract section 12). `contact` is the user's, where the caller has
    read it already. `recipient` is given where the address itself is sealed, masked; `complete` demands every parameter, as a
    consumer knows them all. A push has one delivery for each device. In the quiet hours of `preferences` the delivery waits for
    their end. One that the person refuses (`is_refused`: they switched the channel off) has failed, and its row of the log says
    why; nobody is alerted.
    Raises ChannelNotConfigured, ContactUnknown, AddressMissing, NotificationOfSomebodyElse, and
    ValidationFailed for a template or parameters that do not fit.
    """
    if wanted.channel not in delivery_context.channels:
        raise ChannelNotConfigured(wanted.channel, delivery_context.channels)
    template = template_of(wanted.template, wanted.channel)
    if complete:
        secrets = {name: "sealed" for name in wanted.sealed if name != "address"}
        check_complete(template, {**wanted.parameters, **secrets})
    if contact is None and wanted.user_id is not None:
        contact = await queries.find_contact(uow, wanted.user_id)
    recipients = [recipient] if recipient else await _recipients(uow, contact, wanted.channel, delivery_context)
    payload = {**wanted.parameters, GREETED: contact.first_name if contact else "there"}
    shown = delivery_context.words.feed_line(wanted.template, payload) if template.in_feed and in_feed else None
    if not await store.record_notification_if_new(uow, wanted, shown, delivery_context.now):
        raise NotificationIdTaken
    quiet = preferences.quiet_for(wanted.template, wanted.channel) if preferences else None
    due_at = quiet.over_at(delivery_context.now) if quiet else None
    for address in recipients:
        delivery_id = await store.record_delivery_if_new(uow, wanted, address, payload, delivery_context.now, due_at)
        if delivery_id is None:
            continue
        if is_refused:
            await store.record_refused_attempt(uow, delivery_id, masked(address), SWITCHED_OFF, delivery_context.now)
            await fail_delivery(uow, delivery_id, SWITCHED_OFF, alert=False)
        elif due_at is None:
            store.leave_delivery(uow, delivery_id, wanted.channel)
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
