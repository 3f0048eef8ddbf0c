"""Pages of lists (contract section 1.5): offset lists with a total, and cursor lists."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Generic, Literal, Protocol, TypedDict, TypeVar
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.primitives.cursors import CursorSigner
from common.primitives.problems import ValidationFailed
from common.web.http import LIMIT_DEFAULT, Cursor, Limit, ok
from common.web.response_models import ResponseModel
from common.web.responses import CursorMeta, OffsetMeta
from common.web.schemas import IN_DIGITS

Row = TypeVar("Row")
Item = TypeVar("Item")
ItemModel = TypeVar("ItemModel", bound=ResponseModel)
# Maximum of page x limit: larger offsets are too expensive (contract section 1).
OFFSET_MAX: Final = 10_000
# Creation time and id of the last row of a page, in a list in this order.
TimePosition = tuple[datetime, UUID]


# A filter of lists of decisions (contract section 5.5).
AwaitingApproval = Annotated[
    Literal["approval"] | None, Query(description="Only prepared ones that the caller may approve.")
]
# The items of an offset page, and the total number of items.
Found = tuple[list[Item], int]


@dataclass(frozen=True, slots=True)
class OffsetPage:
    """One page of an offset list: `page` from 1; `sort` is a field of the list's allow-list."""

    page: int
    limit: int
    sort: str
    descending: bool

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    def order_by(self, column: str, tie: str) -> str:
        """Return the ORDER BY of an allow-listed column; the tie-breaker makes the order total."""
        direction = "DESC" if self.descending else "ASC"
        return f"ORDER BY {column} {direction}, {tie} {direction}"


def offset_page(*sorts: str) -> Callable[..., Awaitable[OffsetPage]]:
    """Return the dependency of an offset list that may be sorted by these fields; the first is the default, newest
    first.
    """

    async def page_of(
        page: Annotated[int, Query(ge=1, le=OFFSET_MAX), IN_DIGITS] = 1,
        limit: Limit = LIMIT_DEFAULT,
        sort: Literal[sorts] = sorts[0],  # type: ignore[valid-type]
        order: Literal["asc", "desc"] = "desc",
    ) -> OffsetPage:
        if page * limit > OFFSET_MAX:
            raise ValidationFailed.of("page", f"page x limit must not exceed {OFFSET_MAX}; narrow the filters instead")
        return OffsetPage(page, limit, sort, order == "desc")

    return page_of


def respond_offset_page(
    request: Request, page: OffsetPage, found: Found[ItemModel], meta: type[OffsetMeta] = OffsetMeta, **fields: Any
) -> Response:
    """One page of an offset list; `fields` are those that `meta` adds to its base."""
    items, total = found
    pages = -(-total // page.limit)
    return ok(request, items, meta=meta, page=page.page, limit=page.limit, total=total, total_pages=pages, **fields)


class CursorPosition(TypedDict):
    """The fields of `CursorMeta`."""

    next_cursor: str | None
    has_more: bool
    limit: int


@dataclass(frozen=True, slots=True)
class CursorPage(Generic[Item]):
    """One page of a cursor list; without `next_cursor` it is the last one."""

    items: Sequence[Item]
    next_cursor: str | None
    limit: int

    @property
    def position(self) -> CursorPosition:
        return {"next_cursor": self.next_cursor, "has_more": self.next_cursor is not None, "limit": self.limit}


class WithCursors(Protocol):
    """The dependencies of a service that has cursor lists."""

    @property
    def cursors(self) -> CursorSigner: ...


@dataclass(frozen=True, slots=True)
class CursorRequest:
    """The requested page of a cursor list: at most `limit` rows after `cursor`, the first ones without a cursor."""

    signer: CursorSigner
    limit: int
    cursor: str | None

    def open(self, scope: Sequence[object]) -> list[Any] | None:
        """Return the position of the cursor; None for the first page.

        Raises ValidationFailed for a changed cursor or one of another list.
        """
        return None if self.cursor is None else self.signer.open(scope, self.cursor)

    def time_position(self, scope: Sequence[object]) -> TimePosition | None:
        """Return the position of a cursor that `position_in_time` made, as `open` does."""
        position = self.open(scope)
        if position is None:
            return None
        at, row_id = position
        return datetime.fromisoformat(at), UUID(row_id)

    def page_up_to(
        self, scope: Sequence[object], items: Sequence[Item], position: Sequence[object] | None
    ) -> CursorPage[Item]:
        """Return the page of these items; the next one starts after `position`, and None is the end of the list."""
        return CursorPage(items, None if position is None else self.signer.sign(scope, position), self.limit)


async def requested_page(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> CursorRequest:
    """Return the page that the parameters of a request name."""
    dependencies: WithCursors = request.app.state.dependencies
    return CursorRequest(dependencies.cursors, limit, cursor)


RequestedPage = Annotated[CursorRequest, Depends(requested_page)]


def cursor_page(
    requested: CursorRequest,
    scope: Sequence[object],
    rows: Sequence[Row],
    *,
    position_of: Callable[[Row], Sequence[object]],
    item_of: Callable[[Row], Item],
) -> CursorPage[Item]:
    """Return the page of rows that were read with one more than its limit; `position_of` gives a row's place for the
    cursor.
    """
    limit = requested.limit
    position = position_of(rows[limit - 1]) if len(rows) > limit else None
    return requested.page_up_to(scope, [item_of(row) for row in rows[:limit]], position)


def position_in_time(at: datetime, row_id: UUID) -> Sequence[str]:
    """Return the position of a row in a list in the order of a time and the id."""
    return at.isoformat(), str(row_id)


class Created(Protocol):
    """A record of a list in the order of creation."""

    @property
    def id(self) -> UUID: ...

    @property
    def created_at(self) -> datetime: ...


def created_position(row: Created) -> Sequence[str]:
    return position_in_time(row.created_at, row.id)


def respond_page(
    request: Request, page: CursorPage[ItemModel], meta: type[CursorMeta] = CursorMeta, **fields: Any
) -> Response:
    """One page of a cursor list; `fields` are those that `meta` adds to its base."""
    return ok(request, page.items, meta=meta, **page.position, **fields)
