"""Record the notifications of a transaction together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import Json
from notifications.deliveries.domain.channels import CHANNELS_BY_TEMPLATE
from notifications.deliveries.domain.deliveries import NotificationRequest
from notifications.deliveries.domain.templates import check_complete, template_of
from notifications.deliveries.queries.contacts import Recipient, get_recipients
from notifications.deliveries.store.notifications import NewNotification
from notifications.deliveries.use_cases.deliveries.compose_notification import compose_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext, record_deliveries


@dataclass(frozen=True, slots=True)
class UserNotification:
    """A message to a user, or to the owner of a vendor. With a vendor its name is the parameter `businessName`,
    where the template has it.
    """

    delivery_context: DeliveryContext
    user_id: UUID | None
    vendor_id: UUID | None
    template: str
    parameters: Mapping[str, Json]
    notification_id: UUID
    subject_id: UUID | None
    traceparent: str | None


@dataclass(frozen=True, slots=True)
class ComposedNotification:
    """A notification with its deliveries, ready to be recorded."""

    delivery_context: DeliveryContext
    notification: NewNotification
    is_streamed: bool


async def record_together(uow: UnitOfWork, messages: Sequence[UserNotification | ComposedNotification]) -> None:
    """Record the notifications of a transaction in one statement, which locks the feeds in the order of the users."""
    # The newest: every message of the batch is due by its time, and may be sent by this process.
    delivery_context = messages[-1].delivery_context
    users = [(one.user_id, one.vendor_id) for one in messages if isinstance(one, UserNotification)]
    kinds, now = delivery_context.device_kinds, delivery_context.now
    recipients = await get_recipients(uow, users, kinds, now) if users else []
    is_streamed = any(one.is_streamed for one in messages if isinstance(one, ComposedNotification))
    following = iter(recipients)
    composed = [
        one.notification if isinstance(one, ComposedNotification) else _compose(one, next(following))
        for one in messages
    ]
    await record_deliveries(
        uow,
        delivery_context,
        [one for one in composed if one is not None],
        is_final=not is_streamed and not any(one.is_streamed for one in recipients),
    )


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
    definition = template_of(template, channels[0])
    is_named = recipient.business_name is not None and "businessName" in definition.parameters
    named = {"businessName": recipient.business_name} if is_named else {}
    request = NotificationRequest(
        message.notification_id,
        channels[0],
        template,
        {**message.parameters, **named},
        user_id=recipient.contact.user_id,
        subject_id=message.subject_id,
    )
    check_complete(definition, request.parameters)
    return compose_notification(
        request,
        addresses,
        delivery_context,
        contact=recipient.contact,
        preferences=preferences,
        traceparent=message.traceparent,
    )
