"""Notify a user on every channel of a template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import trace_headers
from notifications import queries
from notifications.domain.channels import CHANNELS_BY_TEMPLATE
from notifications.domain.deliveries import NotificationRequest, notification_id_of
from notifications.domain.templates import check_complete, template_of
from notifications.queries.contacts import Recipient
from notifications.store import NewNotification
from notifications.use_cases.deliveries.compose_notification import compose_notification
from notifications.use_cases.deliveries.record_deliveries import DeliveryContext, record_deliveries


@dataclass(frozen=True, slots=True)
class UserNotification:
    """A message to a user, or to the owner of a vendor. With a vendor its name is the parameter `businessName`."""

    delivery_context: DeliveryContext
    user_id: UUID | None
    vendor_id: UUID | None
    template: str
    parameters: Mapping[str, Any]
    notification_id: UUID
    subject_id: UUID | None
    traceparent: str | None


def notify_user(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    user_id: UUID | None,
    template: str,
    parameters: Mapping[str, Any],
    *about: object,
    vendor_id: UUID | None = None,
    notification_id: UUID | None = None,
    subject_id: UUID | None = None,
) -> None:
    """Record the message for each channel of `CHANNELS_BY_TEMPLATE` that is configured and reaches the user.

    `about` identifies the fact, unless `notification_id` is given: a repetition creates nothing. `subject_id` is the id of
    the subject where no parameter names it. Opt-outs apply except to mandatory messages. Without any channel the feed shows
    it. An erased user receives nothing.

    All messages of a transaction are recorded together before its commit, which raises ContactUnknown and VendorUnknown.
    """
    notification_id = notification_id or notification_id_of(template, *about)
    traceparent = trace_headers().get("traceparent")
    uow.defer(
        _record_notifications,
        UserNotification(
            delivery_context, user_id, vendor_id, template, parameters, notification_id, subject_id, traceparent
        ),
    )


@dataclass(frozen=True, slots=True)
class ComposedNotification:
    """A notification with its deliveries, ready to be recorded."""

    delivery_context: DeliveryContext
    notification: NewNotification


def defer_composed(uow: UnitOfWork, delivery_context: DeliveryContext, notification: NewNotification) -> None:
    """Record a composed notification before the commit, with all others of the transaction."""
    uow.defer(_record_notifications, ComposedNotification(delivery_context, notification))


async def _record_notifications(uow: UnitOfWork, messages: Sequence[UserNotification | ComposedNotification]) -> None:
    """Record the notifications of a transaction in one statement, which locks the feeds in the order of the users."""
    # The newest: every message of the batch is due by its time, and may be sent by this process.
    delivery_context = messages[-1].delivery_context
    users = [(one.user_id, one.vendor_id) for one in messages if isinstance(one, UserNotification)]
    recipients = iter(await queries.get_recipients(uow, users, delivery_context.device_kinds) if users else ())
    composed = [
        one.notification if isinstance(one, ComposedNotification) else _compose(one, next(recipients))
        for one in messages
    ]
    await record_deliveries(uow, delivery_context, [one for one in composed if one is not None])


def _compose(message: UserNotification, recipient: Recipient) -> NewNotification | None:
    """Return the notification; None for an erased user."""
    if recipient.contact.is_erased:
        return None
    delivery_context, preferences, template = message.delivery_context, recipient.preferences, message.template
    channels = CHANNELS_BY_TEMPLATE[template]
    addresses = [
        (channel, address)
        for channel in channels
        if channel in delivery_context.channels and preferences.permits(template, channel)
        for address in recipient.addresses_on(channel)
    ]
    named = {} if recipient.business_name is None else {"businessName": recipient.business_name}
    request = NotificationRequest(
        message.notification_id,
        channels[0],
        template,
        {**message.parameters, **named},
        user_id=recipient.contact.user_id,
        subject_id=message.subject_id,
    )
    check_complete(template_of(template, request.channel), request.parameters)
    return compose_notification(
        request,
        addresses,
        delivery_context,
        contact=recipient.contact,
        preferences=preferences,
        traceparent=message.traceparent,
    )
