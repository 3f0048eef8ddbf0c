"""Cursor lists, ordered by (created_at, id)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from common.primitives.cursors import CursorSigner
from identity.queries.pages import Position


class Listed(Protocol):
    """A record of a cursor list."""

    @property
    def id(self) -> UUID: ...

    @property
    def created_at(self) -> datetime: ...


def page_after(cursors: CursorSigner, scope: Sequence[Any], cursor: str | None) -> Position | None:
    """Return the cursor's position, None without a cursor. Raises ValidationFailed for a cursor of another list."""
    if cursor is None:
        return None
    created_at, row_id = cursors.open(scope, cursor)
    return datetime.fromisoformat(created_at), UUID(row_id)


def page_meta(cursors: CursorSigner, scope: Sequence[Any], records: Sequence[Listed], limit: int) -> dict[str, Any]:
    """Return the pagination fields of `meta` for records that were read with one more than `limit`."""
    has_more, next_cursor = len(records) > limit, None
    if has_more:
        last = records[limit - 1]
        next_cursor = cursors.sign(scope, (last.created_at.isoformat(), str(last.id)))
    return {"has_more": has_more, "limit": limit, "next_cursor": next_cursor}
