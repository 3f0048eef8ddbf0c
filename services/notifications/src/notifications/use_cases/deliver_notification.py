"""Write down that somebody is to be told something; the worker sends it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.database import UnitOfWork
from notifications import queries, store
from notifications.domain.deliveries import Contact, Wanted
from notifications.domain.errors import (
    AddressMissing,
    ChannelNotConfigured,
    ContactUnknown,
    NotificationOfSomebodyElse,
)
from notifications.domain.templates import check_complete, template_of
from notifications.templates.words import GREETED, Words


@dataclass(frozen=True, slots=True)
class Desk:
    """What the writing down needs to know: the channels that have a provider here, the words, and the present instant."""

    channels: Collection[str]
    words: Words
    now: datetime


async def deliver_notification(
    uow: UnitOfWork,
    wanted: Wanted,
    desk: Desk,
    *,
    recipient: str | None = None,
    in_feed: bool = True,
    complete: bool = True,
) -> dict[str, Any]:
    """Records a notification and its delivery once for each (notification, channel, recipient), and answers how it stands.

    The same call of consumers and of deliver-notification (contract section 12). `recipient` is given where the address
    itself is sealed, masked; `complete` demands every parameter, as a consumer knows them all.
    Raises ChannelNotConfigured, ContactUnknown, AddressMissing, NotificationOfSomebodyElse, and
    ValidationFailed for a template or parameters that do not fit.
    """
    if wanted.channel not in desk.channels:
        raise ChannelNotConfigured(wanted.channel, desk.channels)
    template = template_of(wanted.template, wanted.channel)
    if complete:
        secrets = {name: "sealed" for name in wanted.sealed if name != "address"}
        check_complete(template, {**wanted.parameters, **secrets})
    contact = await queries.find_contact(uow, wanted.user_id) if wanted.user_id else None
    address = recipient or _address(contact, wanted.channel)
    payload = {**wanted.parameters, GREETED: contact.first_name if contact else "there"}
    shown = desk.words.feed_line(wanted.template, payload) if template.in_feed and in_feed else None
    if not await store.record_notification_once(uow, wanted, shown, desk.now):
        raise NotificationOfSomebodyElse
    delivery_id = await store.record_delivery_once(uow, wanted, address, payload, desk.now)
    if delivery_id is not None:
        store.leave_delivery(uow, delivery_id)
    return await queries.find_delivery(uow, wanted.notification_id, wanted.channel, address)


def _address(contact: Contact | None, channel: str) -> str:
    if contact is None:
        raise ContactUnknown
    address = contact.address_on(channel)
    if address is None:
        raise AddressMissing(channel)
    return address
