"""Writes of notification preferences."""

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.channels import Preferences

_SAVE: Final = """
INSERT INTO notification_preferences AS p
    (user_id, channels, quiet_from, quiet_to, timezone, locale, revision, updated_at, optional_mail)
VALUES ($1, $2, $3, $4, $5, $6, 1, $7, coalesce($9, true))
ON CONFLICT (user_id) DO UPDATE
SET channels = excluded.channels, quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
    timezone = excluded.timezone, locale = excluded.locale, revision = p.revision + 1, updated_at = excluded.updated_at,
    optional_mail = coalesce($9, p.optional_mail)
WHERE $8::integer IS NULL OR p.revision = $8
RETURNING revision, optional_mail
"""
_DELETE: Final = "DELETE FROM notification_preferences WHERE user_id = $1"


async def save_preferences(
    uow: UnitOfWork,
    user_id: UUID,
    preferences: Preferences,
    now: datetime,
    *,
    revision: int | None,
    keeps_optional_mail: bool,
) -> Preferences | None:
    """Return the preferences with their new revision; None when the given `revision` is stale."""
    quiet = preferences.quiet
    saved = await uow.fetch_row(
        _SAVE,
        user_id,
        dict(preferences.channels),
        quiet.start if quiet else None,
        quiet.end if quiet else None,
        preferences.timezone,
        preferences.locale,
        now,
        revision,
        None if keeps_optional_mail else preferences.optional_mail,
    )
    if saved is None:
        return None
    return replace(preferences, revision=saved["revision"], optional_mail=saved["optional_mail"])


async def delete_preferences(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_DELETE, user_id)
