"""Cursor pages, and records in the public shape."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from asyncpg import Record

from common.primitives.clock import iso
from common.primitives.cursors import CursorSigner
from common.web.pages import CursorPage, cursor_page, position_in_time

Row = dict[str, Any]


def newest_page(
    records: Sequence[Any],
    signer: CursorSigner,
    scope: Sequence[Any],
    limit: int,
    to_row: Callable[[Any], Row],
    *,
    created_at: str = "createdAt",
) -> CursorPage[Row]:
    """Return the page of a list that is sorted by creation time and id."""

    def position_of(record: Any) -> Sequence[str]:
        return position_in_time(record[created_at], record["id"])

    return cursor_page(signer, scope, records, limit, position_of=position_of, item_of=to_row)


def response_row(record: Mapping[str, Any] | Record) -> Row:
    """Return a record whose columns have the public names; its instants become ISO 8601 texts."""
    return {name: iso(value) if isinstance(value, datetime) else value for name, value in record.items()}
