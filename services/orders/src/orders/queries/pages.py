"""Cursor pages of lists in the order of creation."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from asyncpg import Record

from common.web.pages import CursorPage, CursorRequest, cursor_page, position_in_time
from common.web.response_models import ResponseModel

Item = TypeVar("Item", bound=ResponseModel)


def newest_page(
    records: Sequence[Record],
    requested: CursorRequest,
    scope: Sequence[object],
    item_of: Callable[[Record], Item],
) -> CursorPage[Item]:
    """Return the page of a list that is sorted by creation time and id."""

    def position_of(record: Record) -> Sequence[str]:
        return position_in_time(record["created_at"], record["id"])

    return cursor_page(requested, scope, records, position_of=position_of, item_of=item_of)
