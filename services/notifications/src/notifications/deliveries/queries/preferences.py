"""Reads of notification preferences."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.web.response_models import Row
from notifications.deliveries.domain.channels import CHANNELS, Preferences
from notifications.deliveries.domain.quiet_hours import QuietHours
from notifications.deliveries.responses.preferences import NotificationPreferences, QuietHoursWindow

_PREFERENCES: Final = """
SELECT channels, quiet_from, quiet_to, timezone, locale, revision, optional_mail
FROM notification_preferences WHERE user_id = $1
"""


async def find_preferences(uow: UnitOfWork, user_id: UUID) -> Preferences:
    """Return the stored preferences; revision 0 without any."""
    row = await uow.fetch_row(_PREFERENCES, user_id)
    return Preferences() if row is None else preferences_of(row)


def preferences_of(row: Row) -> Preferences:
    """Return the preferences of a row with the columns of `notification_preferences`."""
    start, end = row["quiet_from"], row["quiet_to"]
    quiet = None if start is None else QuietHours(start, end, row["timezone"])
    channels, timezone, locale = row["channels"], row["timezone"], row["locale"]
    return Preferences(channels, quiet, timezone, locale, row["revision"], optional_mail=row["optional_mail"])


def preferences_response(preferences: Preferences) -> NotificationPreferences:
    """Return the effective preferences as the API shows them."""
    quiet = preferences.quiet
    return NotificationPreferences(
        channels={channel: preferences.allows(channel) for channel in CHANNELS},
        quiet_hours=None
        if quiet is None
        else QuietHoursWindow(
            start=quiet.start.strftime("%H:%M"), end=quiet.end.strftime("%H:%M"), timezone=quiet.timezone
        ),
        optional_mail=preferences.optional_mail,
        locale=preferences.locale,
        revision=preferences.revision,
    )
