"""Notify a user on every channel of a template."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import queries, store
from notifications.domain.channels import CHANNELS_BY_TEMPLATE
from notifications.domain.deliveries import NotificationRequest, notification_id_of
from notifications.domain.errors import AddressMissing, ContactUnknown
from notifications.templates.renderer import RECIPIENT_NAME
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext, deliver_notification


async def notify_user(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    user_id: UUID,
    template: str,
    parameters: Mapping[str, Any],
    *about: object,
    notification_id: UUID | None = None,
) -> None:
    """Record the message for each channel of `CHANNELS_BY_TEMPLATE` that is configured and reaches the user.

    `about` identifies the fact, unless `notification_id` is given: a repetition creates nothing. Opt-outs apply except to
    mandatory messages. An erased user receives nothing. Raises ContactUnknown.
    """
    contact = await queries.find_contact(uow, user_id)
    if contact is None:
        raise ContactUnknown
    if contact.is_erased:
        return
    notification_id = notification_id or notification_id_of(template, *about)
    preferences = await queries.find_preferences(uow, user_id)
    is_sent = False
    for channel in CHANNELS_BY_TEMPLATE[template]:
        if channel not in delivery_context.channels or not preferences.permits(template, channel):
            continue
        request = NotificationRequest(notification_id, channel, template, parameters, user_id=user_id)
        try:
            await deliver_notification(uow, request, delivery_context, contact=contact, preferences=preferences)
            is_sent = True
        except AddressMissing:
            continue
    if not is_sent:
        # The feed shows the notification without any delivery.
        entry = delivery_context.renderer.feed_entry(template, {**parameters, RECIPIENT_NAME: contact.first_name})
        channel = CHANNELS_BY_TEMPLATE[template][0]
        unsent = NotificationRequest(notification_id, channel, template, parameters, user_id=user_id)
        await store.record_notification_if_new(uow, unsent, entry, delivery_context.now)
