"""What people said about how they want to be told: SQL by name, without decisions."""

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
_FORGET: Final = "DELETE FROM notification_preferences WHERE user_id = $1"


async def save_preferences(
    uow: UnitOfWork, user_id: UUID, wanted: Preferences, now: datetime, *, revision: int | None
) -> int | None:
    """The new revision; None when `revision` is given and the stored one is another."""
    quiet = wanted.quiet
    saved: int | None = await uow.fetch_value(
        _SAVE,
        user_id,
        dict(wanted.said),
        quiet.begins if quiet else None,
        quiet.ends if quiet else None,
        wanted.timezone,
        wanted.locale,
        now,
        revision,
    )
    return saved


async def forget_preferences(uow: UnitOfWork, user_id: UUID) -> None:
    """Removes what a person said."""
    await uow.execute(_FORGET, user_id)
