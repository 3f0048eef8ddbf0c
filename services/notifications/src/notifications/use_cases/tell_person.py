"""Tell a person something by every channel that the message has for them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from common.database import UnitOfWork
from notifications import queries, store
from notifications.domain.deliveries import Wanted
from notifications.domain.errors import AddressMissing, ContactUnknown
from notifications.domain.ways import WAYS, goes_always
from notifications.templates.words import GREETED
from notifications.use_cases.deliver_notification import Desk, deliver_notification


async def tell_person(
    uow: UnitOfWork, desk: Desk, user_id: UUID, template: str, parameters: Mapping[str, Any], notification_id: UUID
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
    for channel in WAYS[template]:
        if channel not in desk.channels or not (preferences.wants(channel) or goes_always(template, channel)):
            continue
        wanted = Wanted(notification_id, channel, template, parameters, user_id=user_id)
        try:
            await deliver_notification(uow, wanted, desk, contact=contact, preferences=preferences)
            is_told = True
        except AddressMissing:
            # Nobody has every channel: no device, no telephone.
            continue
    if not is_told:
        # The app shows it all the same: nobody is disturbed by a line of their feed.
        shown = desk.words.feed_line(template, {**parameters, GREETED: contact.first_name})
        unsent = Wanted(notification_id, WAYS[template][0], template, parameters, user_id=user_id)
        await store.record_notification_once(uow, unsent, shown, desk.now)
