"""Record the notifications of a transaction together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import trace_headers
from common.primitives.json_records import Json
from notifications.deliveries.domain.channels import CHANNELS_BY_TEMPLATE
from notifications.deliveries.domain.deliveries import NotificationRequest, notification_id_of
from notifications.deliveries.domain.linked_pages import TO_SHOP
from notifications.deliveries.domain.shop_notices import MemberRole
from notifications.deliveries.domain.templates import CATALOG, check_complete, template_of
from notifications.deliveries.queries.contacts import Recipient, Requested, get_recipients
from notifications.deliveries.store.notifications import NewNotification
from notifications.deliveries.use_cases.deliveries.compose_notification import compose_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext, record_deliveries


@dataclass(frozen=True, slots=True)
class UserNotification:
    """A message to a user, or to the people of a vendor's shop. With a vendor its name is the parameter `businessName`,
    where the template has it. `about` and the user identify the message of a member.
    """

    delivery_context: DeliveryContext
    user_id: UUID | None
    template: str
    parameters: Mapping[str, Json]
    notification_id: UUID
    about: Sequence[object] = ()
    vendor_id: UUID | None = None
    subject_id: UUID | None = None
    by_role: Mapping[MemberRole, str] = field(default_factory=dict)
    """The templates of the members of the vendor's shop."""
    traceparent: str | None = field(default_factory=lambda: trace_headers().get("traceparent"))


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
    requested = [
        Requested(one.user_id, one.vendor_id, bool(one.by_role))
        for one in messages
        if isinstance(one, UserNotification)
    ]
    kinds, now = delivery_context.device_kinds, delivery_context.now
    following = iter(await get_recipients(uow, requested, kinds, now) if requested else ())
    composed, is_streamed = list[NewNotification](), False
    for one in messages:
        if isinstance(one, ComposedNotification):
            composed.append(one.notification)
            is_streamed |= one.is_streamed
            continue
        for recipient in next(following):
            message = _message_of(one, recipient)
            if message is not None and not recipient.contact.is_erased:
                composed.append(_compose(message, recipient))
            is_streamed |= recipient.is_streamed
    await record_deliveries(uow, delivery_context, composed, is_final=not is_streamed)


def _message_of(message: UserNotification, recipient: Recipient) -> UserNotification | None:
    """Return the message to this recipient: that of a member has the template of the role; None for a role without."""
    if recipient.role is None:
        return message
    if (template := message.by_role.get(recipient.role)) is None:
        return None
    known = CATALOG[template].parameters
    return replace(
        message,
        template=template,
        parameters={name: value for name, value in message.parameters.items() if name in known},
        notification_id=notification_id_of(template, *message.about, recipient.contact.user_id),
    )


def _compose(message: UserNotification, recipient: Recipient) -> NewNotification:
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
    parameters = {**message.parameters, **named}
    check_complete(definition, parameters)
    request = NotificationRequest(
        message.notification_id,
        channels[0],
        template,
        {**parameters, **({TO_SHOP: True} if message.user_id is None else {})},
        user_id=recipient.contact.user_id,
        subject_id=message.subject_id,
    )
    return compose_notification(
        request,
        addresses,
        delivery_context,
        contact=recipient.contact,
        preferences=preferences,
        traceparent=message.traceparent,
    )
