"""Record a notification and its deliveries; the worker sends them.

**deliver-notification queues.** It returns `queued`; later calls return `sent` with `providerMessageId`. A channel
without a provider is 422 with the invalid param `channel`, whose reason lists the configured ones. A user without an
address on the channel is 422 too; an unknown user is 404; the id of another user's notification is 409.

**`data` is complete.** Each parameter of the template is required, except those marked `?`; null counts as missing.
Otherwise the response is 422 and names each missing parameter and each one of another type (`data.<name>`), and
nothing is stored. Other members of `data` are ignored and not stored.

**Every template supports every channel** except `delivery_pin`: a PIN must not remain in a mailbox, so `email` is 422
with `channel`. A text message has at most three segments: amounts are written `NGN`, names are truncated, and a
longer text is cut at its end, never in its secret.
"""

from dataclasses import replace
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.channels import Preferences
from notifications.deliveries.domain.deliveries import NotificationRequest, masked
from notifications.deliveries.store.deliveries import record_refused_attempt
from notifications.deliveries.use_cases.deliveries.address_notification import address_notification
from notifications.deliveries.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext, record_deliveries

SWITCHED_OFF: Final = "the user has switched this channel off"


async def deliver_notification(
    uow: UnitOfWork,
    request: NotificationRequest,
    delivery_context: DeliveryContext,
    *,
    recipient: str | None = None,
    in_feed: bool = True,
    complete: bool = True,
    preferences: Preferences | None = None,
) -> list[str]:
    """Record a notification and one delivery for each recipient, each once; return the recipients.

    Consumers and deliver-notification share it (contract section 12). A push has one delivery for each device. Pass a
    masked `recipient` when the address is encrypted. With `complete` every parameter is required. Quiet hours of
    `preferences` postpone the delivery; a channel that they switch off lets it fail without an alert. Raises
    ChannelNotConfigured, ContactUnknown, AddressMissing, NotificationIdConflict and ValidationFailed.
    """
    notification = await address_notification(
        uow, request, delivery_context, recipient=recipient, complete=complete, preferences=preferences
    )
    if not in_feed:
        notification = replace(notification, entry=None)
    is_opted_out = preferences is not None and preferences.opted_out(request.template, request.channel)
    queued = await record_deliveries(uow, delivery_context, [notification], is_sent_here=not is_opted_out)
    if is_opted_out:
        for delivery in queued:
            recipient = masked(delivery.recipient)
            await record_refused_attempt(uow, delivery.id, recipient, SWITCHED_OFF, delivery_context.now)
            await fail_delivery(uow, delivery.id, SWITCHED_OFF, alert=False)
    return [delivery.recipient for delivery in notification.deliveries]
