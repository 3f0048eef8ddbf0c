"""Cursor pages, and records in the public shape."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from common.primitives.clock import iso
from common.primitives.cursors import CursorSigner

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a cursor list."""

    rows: Sequence[Any]
    next_cursor: str | None
    limit: int

    @property
    def meta(self) -> Row:
        """The pagination fields of the response's `meta`."""
        return {"next_cursor": self.next_cursor, "has_more": self.next_cursor is not None, "limit": self.limit}


def cursor_position(signer: CursorSigner, scope: Sequence[Any], cursor: str | None) -> list[Any]:
    """Creation time and id of the last row of the previous page; empty for the first page."""
    if cursor is None:
        return []
    created_at, last_id = signer.open(scope, cursor)
    return [datetime.fromisoformat(created_at), UUID(last_id)]


def newest_page(
    records: Sequence[Any],
    signer: CursorSigner,
    scope: Sequence[Any],
    limit: int,
    to_row: Callable[[Any], Row],
    *,
    created_at: str = "createdAt",
) -> Page:
    """The page of a list that is sorted by creation time and id. `records` hold one row more when another page follows."""
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        next_cursor = signer.sign(scope, [last[created_at].isoformat(), str(last["id"])])
    return Page([to_row(record) for record in records[:limit]], next_cursor, limit)


def response_row(record: Mapping[str, Any] | Record) -> Row:
    """A record whose columns carry the public names; its instants become ISO 8601 texts."""
    return {name: iso(value) if isinstance(value, datetime) else value for name, value in record.items()}
