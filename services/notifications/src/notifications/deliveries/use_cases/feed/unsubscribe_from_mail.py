"""Switch off the optional mails of a user by the link in a mail."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.queries.contacts import find_contact
from notifications.deliveries.queries.preferences import find_preferences
from notifications.deliveries.use_cases.feed.change_preferences import change_preferences


async def unsubscribe_from_mail(uow: UnitOfWork, user_id: UUID, now: datetime) -> bool:
    """Switch off the mails with such a link; all others are sent. A repetition has no effect.

    Return False for an unknown or erased user.

    Raises PreferencesChanged when the preferences change at the same time.
    """
    contact = await find_contact(uow, user_id)
    if contact is None or contact.is_erased:
        return False
    preferences = await find_preferences(uow, user_id)
    if not preferences.optional_mail:
        return True
    changed = replace(preferences, optional_mail=False)
    await change_preferences(uow, user_id, changed, now, revision=preferences.revision)
    return True
