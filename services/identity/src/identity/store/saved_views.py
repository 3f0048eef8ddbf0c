"""Saved views, written under the lock of their person."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.saved_views import ViewContent

_COUNT: Final = "SELECT count(*) FROM saved_views WHERE user_id = $1"
_RECORD_IF_NEW: Final = """
INSERT INTO saved_views (id, user_id, path, name, query, created_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT ON CONSTRAINT saved_views_name_once_per_list DO NOTHING RETURNING true
"""
_FIND: Final = "SELECT path, name, query FROM saved_views WHERE id = $1 AND user_id = $2"
_SAVE_NAME: Final = """
UPDATE saved_views SET name = $3 WHERE id = $1 AND user_id = $2 AND NOT EXISTS (
    SELECT FROM saved_views AS other
    WHERE other.user_id = $2 AND other.path = saved_views.path AND other.name = $3 AND other.id <> $1
)
"""
_DELETE: Final = "DELETE FROM saved_views WHERE id = $1 AND user_id = $2"


async def count_views(uow: UnitOfWork, user_id: UUID) -> int:
    return int(await uow.fetch_value(_COUNT, user_id))


async def record_view_if_new(uow: UnitOfWork, view_id: UUID, user_id: UUID, view: ViewContent, now: datetime) -> bool:
    """Return whether the view is recorded: False where the person has one of this name for the list."""
    return bool(await uow.fetch_value(_RECORD_IF_NEW, view_id, user_id, *view, now))


async def find_view(uow: UnitOfWork, view_id: UUID, user_id: UUID) -> ViewContent | None:
    """Return the person's view; None for an absent one or that of another person."""
    row = await uow.fetch_row(_FIND, view_id, user_id)
    return None if row is None else ViewContent(*row)


async def save_name(uow: UnitOfWork, view_id: UUID, user_id: UUID, name: str) -> bool:
    """Return whether the view has the name now: False where another view of the list has it."""
    return bool(await uow.execute(_SAVE_NAME, view_id, user_id, name))


async def delete_view(uow: UnitOfWork, view_id: UUID, user_id: UUID) -> bool:
    """Return whether the person had the view."""
    return bool(await uow.execute(_DELETE, view_id, user_id))
