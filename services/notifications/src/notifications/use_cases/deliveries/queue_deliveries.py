"""Record a notification with its deliveries, which are its places in the queue."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from notifications import store
from notifications.domain.channels import Preferences
from notifications.domain.deliveries import Contact, NotificationRequest
from notifications.domain.errors import NotificationIdConflict
from notifications.domain.templates import template_of
from notifications.store import QueuedDelivery
from notifications.templates.renderer import RECIPIENT_NAME, MessageRenderer

# Time for a delivery receipt of a PIN. The next channel must be faster than the patience of a buyer at the handover.
PIN_RECEIPT: Final = timedelta(seconds=90)
EVERY_KIND: Final = ("web", "android", "ios")


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
    deliveries = [
        QueuedDelivery(new_id(), channel, address, _due_at(request.template, channel, preferences, now))
        for channel, address in addresses
    ]
    recorded = await store.record_notification(
        uow, request, entry, deliveries, payload, now, is_urgent=template.sensitive
    )
    if recorded is None:
        raise NotificationIdConflict
    queued = [delivery for delivery in deliveries if delivery.id in recorded]
    due = [delivery for delivery in queued if delivery.due_at <= now]
    if due and not delivery_context.expect(due):
        store.enqueue_wakeup(uow, due[0].id)
    return queued


def _due_at(template: str, channel: str, preferences: Preferences | None, now: datetime) -> datetime:
    quiet = preferences.quiet_hours_for(template, channel) if preferences else None
    return (quiet.quiet_until(now) if quiet else None) or now
