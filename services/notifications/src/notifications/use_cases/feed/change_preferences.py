"""Change how a person wants to be told."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import queries, store
from notifications.domain.channels import Preferences
from notifications.domain.errors import PreferencesChanged


async def change_preferences(
    uow: UnitOfWork, user_id: UUID, wanted: Preferences, now: datetime, *, revision: int | None
) -> dict[str, Any]:
    """Replaces the preferences. Raises PreferencesChanged when `revision` is given and is not the stored one."""
    if revision is not None and (await queries.find_preferences(uow, user_id)).revision != revision:
        raise PreferencesChanged
    # A row that another request wrote meanwhile has a revision of its own, and is not overwritten.
    saved = await store.save_preferences(uow, user_id, wanted, now, revision=revision)
    if saved is None:
        raise PreferencesChanged
    return queries.preferences_shape(replace(wanted, revision=saved))
