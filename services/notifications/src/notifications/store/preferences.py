"""Writes of notification preferences."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.domain.channels import Preferences

_SAVE: Final = """
INSERT INTO notification_preferences AS p
    (user_id, channels, quiet_from, quiet_to, timezone, locale, revision, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, 1, $7)
ON CONFLICT (user_id) DO UPDATE
SET channels = excluded.channels, quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
    timezone = excluded.timezone, locale = excluded.locale, revision = p.revision + 1, updated_at = excluded.updated_at
WHERE $8::integer IS NULL OR p.revision = $8
RETURNING revision
"""
_DELETE: Final = "DELETE FROM notification_preferences WHERE user_id = $1"


async def save_preferences(
    uow: UnitOfWork, user_id: UUID, preferences: Preferences, now: datetime, *, revision: int | None
) -> int | None:
    """Return the new revision; None when the given `revision` is stale."""
    quiet = preferences.quiet
    saved: int | None = await uow.fetch_value(
        _SAVE,
        user_id,
        dict(preferences.channels),
        quiet.start if quiet else None,
        quiet.end if quiet else None,
        preferences.timezone,
        preferences.locale,
        now,
        revision,
    )
    return saved


async def delete_preferences(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_DELETE, user_id)
