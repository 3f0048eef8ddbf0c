"""Lists of the API as tables: filters in the address, pages, and the same rows as CSV."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Literal
from urllib.parse import urlencode

from markupsafe import Markup, escape
from starlette.responses import Response

from common.web.csv_export import csv_head, csv_lines
from console import formats
from console.api import ROWS_MAX, Json, Rows
from console.parts import names_of
from console.visit import Visit

ROWS_PER_PAGE: Final = 50

Kind = Literal["text", "naira", "time", "ago", "left", "badge", "id", "number", "staff"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `value` is the dotted name of a field, or a function of the row."""

    label: str
    value: str | Callable[[Json], Any]
    kind: Kind = "text"
    link: str | Callable[[Json], str] = ""
    """A path with fields in braces, `/orders/{id}`, or a function of the row; empty: no link."""

    def of(self, row: Json) -> Any:
        if callable(self.value):
            return self.value(row)
        found: Any = row
        for name in self.value.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def cell(self, row: Json) -> Markup:
        """Return the content of the cell. In Python: a macro of the template for each cell was half of a page's
        time.
        """
        value = self.of(row)
        shown = _SHOWN[self.kind](value) if value not in (None, "") else formats.NOTHING
        if self.link and value not in (None, "") and (path := self.link_of(row)):
            return formats.element("a", shown, href=path)
        return escape(shown)

    def link_of(self, row: Json) -> str:
        return self.link(row) if callable(self.link) else self.link.format_map(_Fields(row))


def _order_name(row: Json) -> str | None:
    """Return the number for people; payments knows none of an order from before orders published it."""
    return row["orderNumber"] or (row["orderId"] and "the order")


ORDER_COLUMN: Final = Column("Order", _order_name, link="/orders/{orderId}")

_SHOWN: Final[dict[Kind, Callable[[Any], Any]]] = {
    "text": str,
    "number": str,
    "naira": formats.naira,
    "time": formats.lagos,
    "ago": formats.ago,
    "left": formats.left,
    "badge": formats.badge,
    "id": formats.short_id,
    "staff": str,
}


class _Fields(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter above a list. With `options` it is a choice, else a text or date field."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...] = ()
    kind: Literal["search", "date", "text"] = "text"
    blank: str = "all"
    """The option of no choice."""


def choices(*words: str) -> tuple[tuple[str, str], ...]:
    """Options of a filter whose words are shown as they are."""
    return tuple((word, word.replace("_", " ")) for word in words)


@dataclass(frozen=True, slots=True)
class ListView:
    """A list of the API: where it comes from, its columns and filters."""

    path: str
    columns: tuple[Column, ...]
    filters: tuple[Filter, ...] = ()
    empty: str = "Nothing is here."
    """What to do when there is no row."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Parameters that are always sent."""
    is_paged: bool = True
    """Whether the API's list has pages; else one response has all of its rows."""


@dataclass(frozen=True, slots=True)
class ShownList:
    """One page of a list, for the macro `list_table` of `parts.html`."""

    view: ListView
    rows: Rows
    query: Mapping[str, str]
    address: str

    @property
    def page_number(self) -> int:
        return int(self.rows.meta.get("page") or 1)

    @property
    def pages(self) -> int | None:
        return self.rows.meta.get("total_pages")

    def link(self, **changes: str | None) -> str:
        """Return the address of this list with other parameters."""
        merged = {name: text for name, text in {**self.query, **changes}.items() if text}
        return f"{self.address}?{urlencode(merged)}" if merged else self.address

    @property
    def next_link(self) -> str | None:
        if self.rows.next_cursor:
            return self.link(cursor=self.rows.next_cursor, page=None)
        if self.pages is not None and self.page_number < self.pages:
            return self.link(page=str(self.page_number + 1))
        return None

    @property
    def previous_link(self) -> str | None:
        if self.page_number > 1:
            return self.link(page=str(self.page_number - 1) if self.page_number > 2 else None)
        return self.link(cursor=None) if self.query.get("cursor") else None


async def load_list(visit: Visit, view: ListView) -> ShownList:
    """Return the page of the list that the address names. Raises ApiProblem."""
    names = {one.name for one in view.filters}
    query = {name: text for name, text in visit.query.items() if name in names | {"page", "cursor"}}
    rows = await visit.api.page(view.path, limit=ROWS_PER_PAGE if view.is_paged else None, **{**query, **view.fixed})
    await _name_staff(visit, view, rows.items)
    return ShownList(view, rows, query, visit.path)


async def show_list(visit: Visit, view: ListView, template: str = "list.html", **values: Any) -> Response:
    """Return the list as a page, or as CSV with `?format=csv`."""
    if visit.query.get("format") == "csv":
        return await csv_response(visit, view)
    return visit.render(template, shown=await load_list(visit, view), **values)


async def csv_response(visit: Visit, view: ListView) -> Response:
    """Return all rows under the address's filters, up to 10,000, as CSV. Amounts are naira with two digits."""
    names = {one.name for one in view.filters}
    query = {name: text for name, text in visit.query.items() if name in names}
    parameters = {**query, **view.fixed}
    if view.is_paged:
        found = [row async for row in visit.api.every_row(view.path, **parameters)]
    else:
        found = (await visit.api.page(view.path, **parameters)).items
    rows = [[_plain(column, row) for column in view.columns] for row in found]
    if len(rows) >= ROWS_MAX:
        rows.append([f"ERROR: this file ends after {ROWS_MAX:,} rows, and more may exist. Narrow the filters."])
    name = visit.path.strip("/").replace("/", "-") or "list"
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    content = csv_head([column.label for column in view.columns]) + csv_lines(rows)
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


async def _name_staff(visit: Visit, view: ListView, rows: list[Json]) -> None:
    """Replace ids of colleagues by their names, with one request for the page."""
    fields = [column.value for column in view.columns if column.kind == "staff" and isinstance(column.value, str)]
    names = await names_of(visit, *(row[field] for row in rows for field in fields))
    for row in rows:
        row |= {field: names.get(row[field]) or (row[field] or "")[-8:] for field in fields}


def _plain(column: Column, row: Json) -> Any:
    value = column.of(row)
    if column.kind == "naira" and value is not None:
        return Decimal(value).scaleb(-2)
    return value
