"""Saved views of the caller."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.responses.saved_views import SavedView

_VIEWS: Final = """
SELECT id, path, name, query, created_at FROM saved_views
WHERE user_id = $1 AND ($2::text IS NULL OR path = $2) AND ($3::uuid IS NULL OR id = $3)
ORDER BY path, name
"""


async def list_views(
    uow: UnitOfWork, user_id: UUID, path: str | None = None, view_id: UUID | None = None
) -> list[SavedView]:
    """Return the person's views by list and name; of one list with `path`, or this one with `view_id`."""
    return [SavedView.from_row(row) for row in await uow.fetch(_VIEWS, user_id, path, view_id)]
