"""What a user said about how they want to be told."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.domain.channels import CHANNELS, Preferences
from notifications.domain.quiet_hours import QuietHours

_PREFERENCES: Final = """
SELECT channels, quiet_from, quiet_to, timezone, locale, revision FROM notification_preferences WHERE user_id = $1
"""


async def find_preferences(uow: UnitOfWork, user_id: UUID) -> Preferences:
    """What the user said; revision 0 when they said nothing yet."""
    row = await uow.fetch_row(_PREFERENCES, user_id)
    if row is None:
        return Preferences()
    begins, ends = row["quiet_from"], row["quiet_to"]
    quiet = None if begins is None else QuietHours(begins, ends, row["timezone"])
    return Preferences(row["channels"], quiet, row["timezone"], row["locale"], row["revision"])


def preferences_shape(preferences: Preferences) -> dict[str, Any]:
    """The preferences as they are shown and as they may be sent back."""
    quiet = preferences.quiet
    return {
        "channels": {channel: preferences.wants(channel) for channel in CHANNELS},
        "quietHours": None
        if quiet is None
        else {
            "from": quiet.begins.strftime("%H:%M"),
            "to": quiet.ends.strftime("%H:%M"),
            "timezone": quiet.timezone,
        },
        "locale": preferences.locale,
        "revision": preferences.revision,
    }
