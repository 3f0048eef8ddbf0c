"""Replace the notification preferences of a user."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.channels import Preferences
from notifications.deliveries.domain.errors import PreferencesChanged
from notifications.deliveries.queries.preferences import find_preferences
from notifications.deliveries.store.preferences import save_preferences


async def change_preferences(
    uow: UnitOfWork,
    user_id: UUID,
    preferences: Preferences,
    now: datetime,
    *,
    revision: int | None,
    keeps_optional_mail: bool = False,
) -> Preferences:
    """Replace the preferences. Raises PreferencesChanged for a stale `revision`.

    With `keeps_optional_mail` the stored `optional_mail` stays, also when a concurrent click has just switched it off.
    """
    if revision is not None and (await find_preferences(uow, user_id)).revision != revision:
        raise PreferencesChanged
    # A row that another preferences wrote in the meantime has a revision of its own, and is not overwritten.
    saved = await save_preferences(
        uow, user_id, preferences, now, revision=revision, keeps_optional_mail=keeps_optional_mail
    )
    if saved is None:
        raise PreferencesChanged
    return saved
