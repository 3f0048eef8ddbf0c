"""Tell a person something by every channel that the message has for them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import queries, store
from notifications.domain.channels import CHANNELS_BY_TEMPLATE, goes_always
from notifications.domain.deliveries import NotificationRequest
from notifications.domain.errors import AddressMissing, ContactUnknown
from notifications.templates.renderer import GREETED
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext, deliver_notification


async def notify_user(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    user_id: UUID,
    template: str,
    parameters: Mapping[str, Any],
    notification_id: UUID,
) -> None:
    """Records the message for each channel of its line in `WAYS` that has a provider and reaches the person.

    What they switched off is left out, but for what always goes; an erased person is told nothing. One notification of the
    feed, whatever the channels. Raises ContactUnknown, for the retry ladder.
    """
    contact = await queries.find_contact(uow, user_id)
    if contact is None:
        raise ContactUnknown
    if contact.is_erased:
        return
    preferences = await queries.find_preferences(uow, user_id)
    is_told = False
    for channel in CHANNELS_BY_TEMPLATE[template]:
        if channel not in delivery_context.channels or not (
            preferences.wants(channel) or goes_always(template, channel)
        ):
            continue
        wanted = NotificationRequest(notification_id, channel, template, parameters, user_id=user_id)
        try:
            await deliver_notification(uow, wanted, delivery_context, contact=contact, preferences=preferences)
            is_told = True
        except AddressMissing:
            # Nobody has every channel: no device, no telephone.
            continue
    if not is_told:
        # The app shows it all the same: nobody is disturbed by a line of their feed.
        shown = delivery_context.words.feed_line(template, {**parameters, GREETED: contact.first_name})
        unsent = NotificationRequest(
            notification_id, CHANNELS_BY_TEMPLATE[template][0], template, parameters, user_id=user_id
        )
        await store.record_notification_if_new(uow, unsent, shown, delivery_context.now)
