"""Cursor lists that run from the oldest row to the newest, by (created_at, id)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from common.primitives.cursors import CursorSigner
from identity.queries.pages import Position


def page_after(cursors: CursorSigner, scope: Sequence[Any], cursor: str | None) -> Position | None:
    """The position that the cursor stands for; None at the start. Raises ValidationFailed for a foreign cursor."""
    if cursor is None:
        return None
    created_at, row_id = cursors.open(scope, cursor)
    return datetime.fromisoformat(created_at), UUID(row_id)


def page_meta(cursors: CursorSigner, scope: Sequence[Any], rows: Sequence[Any], limit: int) -> dict[str, Any]:
    """The pagination fields of `meta` for rows that were read with one more than `limit`."""
    has_more = len(rows) > limit
    meta: dict[str, Any] = {"has_more": has_more, "limit": limit}
    if has_more:
        last = rows[limit - 1]
        meta["next_cursor"] = cursors.sign(scope, (last["created_at"].isoformat(), str(last["id"])))
    else:
        meta["next_cursor"] = None
    return meta
