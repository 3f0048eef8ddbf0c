"""Lists of the API as tables: filters in the address, pages, and the same rows as CSV."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from markupsafe import Markup, escape
from starlette.responses import Response

from common.primitives.public_numbers import NumberKind, kind_of_number
from common.web.csv_export import csv_head, csv_lines
from console import formats, parts
from console.api import ROWS_MAX, ApiProblem, Json, Rows
from console.choices import Choices, choices_of
from console.live import event_stream, wants_events
from console.money import accounts
from console.visit import InvalidField, Visit

ROWS_PER_PAGE: Final = 50

Complete = Callable[[Json], Awaitable[None]]
"""Adds to a row what its list lacks."""

Kind = Literal[
    "text", "words", "naira", "time", "ago", "left", "badge", "id", "number", "staff", "code", "image", "accounts"
]


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
        if value in (None, ""):
            return escape(formats.NOTHING)
        if self.link and (path := self.link_of(row)):
            shown = formats.text(value, is_linked=True) if self.kind == "text" else _SHOWN[self.kind](value)
            return formats.element("a", shown, href=path)
        return escape(_SHOWN[self.kind](value))

    def link_of(self, row: Json) -> str:
        return self.link(row) if callable(self.link) else self.link.format_map(_Fields(row))


def order_name(row: Json) -> str | None:
    """Return the number for people; payments knows none of an order from before orders published it."""
    return row["orderNumber"] or (row["orderId"] and "the order")


def vendor_name(row: Json) -> str | None:
    """Return the legal name of the row's vendor; an erased vendor has none."""
    return row["vendorName"] or (row["vendorId"] and "erased vendor")


def account(row: Json) -> str:
    """Return bank and last digits of the row's account."""
    return f"{row['bankName'] or 'bank ' + (row['bankCode'] or '?')} …{row['accountLast4']}"


ORDER_COLUMN: Final = Column("Order", order_name, link="/orders/{orderId}")

_SHOWN: Final[dict[Kind, Callable[[Any], Any]]] = {
    "text": formats.text,
    "words": formats.spoken,
    "number": str,
    "naira": formats.naira,
    "time": formats.lagos,
    "ago": formats.ago,
    "left": formats.left,
    "badge": formats.badge,
    "id": formats.short_id,
    "staff": str,
    "code": formats.reference,
    "image": formats.thumbnail,
    "accounts": accounts,
}


class _Fields(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter above a list: a choice where the API accepts one of a few values, else a text or date field."""

    name: str
    label: str
    options: Choices = ()
    """Instead of the API's values."""
    kind: Literal["search", "date", "text", "order", "payout", "subject", "hidden"] = "text"
    """`order` and `payout` take a number for people, and filter by its id; `subject` takes a number of either, or the
    reference of a transfer. `hidden` is set by links only.
    """
    blank: str = "all"
    """The option of no choice."""

    @property
    def input_type(self) -> str:
        return "search" if self.kind == "subject" or self.kind in _NUMBERED else self.kind


_NUMBERED: Final = {"order": ("/api/orders", "q"), "payout": ("/api/payouts", "number")}
"""The list that finds the number, and its parameter."""
_SUBJECTS: Final[Mapping[NumberKind | None, str]] = {NumberKind.ORDER: "order", NumberKind.PAYOUT: "payout"}
_REFERENCE: Final = re.compile("po-[0-9a-f]{32}")
"""Of a transfer (contract section 8.4)."""


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

    def options_of(self, one: Filter) -> Choices:
        """Return what a filter offers beside its blank option; empty for a field."""
        offered = one.options or (choices_of(self.path, one.name) if one.kind == "text" else ())
        return tuple(option for option in offered if option[0] != one.blank)


@dataclass(frozen=True, slots=True)
class ShownList:
    """One page of a list, for the macro `list_table` of `parts.html`."""

    view: ListView
    rows: Rows
    query: Mapping[str, str]
    address: str
    is_live: bool = False
    """Whether the page's address also streams what is new."""
    views: Sequence[Json] | None = None
    """The user's saved views of the list; None where the page has none."""

    @property
    def page_number(self) -> int:
        return int(self.rows.meta.get("page") or 1)

    @property
    def pages(self) -> int | None:
        return self.rows.meta.get("total_pages")

    @property
    def live_mark(self) -> str | None:
        """The rows of a first page, so that its stream counts the new ones; None where rows have no id."""
        is_first = self.is_live and self.view.is_paged and self.page_number == 1 and "cursor" not in self.query
        return _mark_of(self.rows.items) if is_first and all("id" in row for row in self.rows.items) else None

    def link(self, **changes: str | None) -> str:
        """Return the address of this list with other parameters."""
        merged = {name: text for name, text in {**self.query, **changes}.items() if text}
        return f"{self.address}?{urlencode(merged)}" if merged else self.address

    @property
    def view_query(self) -> str:
        """The filters of the address, without the place in the list, as a saved view has them."""
        return self.link(page=None, cursor=None).partition("?")[2]

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


async def load_list(visit: Visit, view: ListView, complete: Complete | None = None) -> ShownList:
    """Return the page of the list that the address names; `complete` adds names to a row. Raises ApiProblem."""
    query = _query_of(visit, view)
    try:
        rows = await _read_rows(visit, view, query)
    except ApiProblem as problem:
        if problem.status != 422 or not query:
            raise
        # The form stays as it was typed, with the reason beside the field.
        visit.error = visit.error or problem
        rows = Rows([])
    await name_rows(visit, view.columns, rows.items)
    if complete is not None:
        for row in rows.items:
            await complete(row)
    return ShownList(view, rows, query, visit.path)


def _query_of(visit: Visit, view: ListView) -> dict[str, str]:
    names = {one.name for one in view.filters} | {"page", "cursor"}
    return {name: text for name, text in visit.query.items() if name in names}


async def _read_rows(visit: Visit, view: ListView, query: Mapping[str, str]) -> Rows:
    parameters = await _with_ids(visit, view, query)
    limit = ROWS_PER_PAGE if view.is_paged else None
    return await visit.api.page(view.path, limit=limit, **{**parameters, **view.fixed})


_MARKED_CHARACTERS: Final = 8
"""The end of an id, which is random."""


def _mark_of(rows: Sequence[Json]) -> str:
    return "".join(str(row["id"])[-_MARKED_CHARACTERS:] for row in rows)


async def _count_new(visit: Visit, view: ListView) -> Json:
    """Return how many rows of the first page the browser does not show; `seen` has the shown ones."""
    seen, size = visit.query.get("seen", ""), _MARKED_CHARACTERS
    shown = {seen[start : start + size] for start in range(0, len(seen), size)}
    rows = await _read_rows(visit, view, _query_of(visit, view))
    return {"new": sum(_mark_of([row]) not in shown for row in rows.items)}


async def _with_ids(visit: Visit, view: ListView, query: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with ids in place of the numbers that people typed. Raises InvalidField."""
    parameters = dict(query)
    for one in view.filters:
        typed = query.get(one.name, "")
        if one.input_type == "search" and one.kind != "search" and typed and not is_id(typed):
            parameters[one.name] = await _id_of_number(visit, one, typed)
    return parameters


async def _id_of_number(visit: Visit, one: Filter, typed: str) -> str:
    kind = one.kind if one.kind != "subject" else _SUBJECTS.get(kind_of_number(typed))
    if _REFERENCE.fullmatch(typed.strip().lower()):
        kind, path, parameter = "payout", "/api/payouts", "reference"
    elif kind is None:
        raise InvalidField(one.name, "type the number of an order or payout, the reference of a transfer, or an id")
    else:
        path, parameter = _NUMBERED[kind]
    try:
        found = (await visit.api.page(path, limit=2, **{parameter: typed})).items
    except ApiProblem as problem:
        if problem.status != 403:
            raise
        raise InvalidField(one.name, f"you may not see {kind}s: search by another field") from problem
    if len(found) > 1:
        raise InvalidField(one.name, f"the numbers of several {kind}s begin with “{typed}”; type more of it")
    if not found:
        raise InvalidField(one.name, f"no {kind} that you may see has the number “{typed}”; check it")
    return str(found[0]["id"])


def is_id(text: str) -> bool:
    """Return whether a text is an id of the API."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


async def show_list(
    visit: Visit, view: ListView, template: str = "list.html", complete: Complete | None = None, **values: Any
) -> Response:
    """Return the list as a page, as CSV with `?format=csv`, or the number of its new rows as events."""
    if visit.query.get("format") == "csv":
        return await csv_response(visit, view, complete)
    if wants_events(visit):
        return event_stream(visit, lambda: _count_new(visit, view))
    shown, views = await asyncio.gather(load_list(visit, view, complete), _saved_views(visit, view))
    return visit.render(template, shown=replace(shown, is_live=True, views=views), **values)


async def _saved_views(visit: Visit, view: ListView) -> list[Json] | None:
    """Return the user's saved views of a list with filters, each with its address."""
    if not any(one.kind != "hidden" for one in view.filters):
        return None
    views: list[Json] = await visit.api.get("/api/saved-views", path=visit.path)
    return [{**one, "address": f"{one['path']}?{one['query']}".rstrip("?")} for one in views]


async def csv_response(visit: Visit, view: ListView, complete: Complete | None = None) -> Response:
    """Return all rows under the address's filters, up to 10,000, as CSV. Amounts are naira with two digits."""
    names = {one.name for one in view.filters}
    query = {name: text for name, text in visit.query.items() if name in names}
    parameters = {**await _with_ids(visit, view, query), **view.fixed}
    if view.is_paged:
        found = [row async for row in visit.api.every_row(view.path, **parameters)]
    else:
        found = (await visit.api.page(view.path, **parameters)).items
    await name_rows(visit, view.columns, found)
    if complete is not None:
        for row in found:
            await complete(row)
    rows = [[_plain(column, row) for column in view.columns] for row in found]
    if len(rows) >= ROWS_MAX:
        rows.append([f"ERROR: this file ends after {ROWS_MAX:,} rows, and more may exist. Narrow the filters."])
    name = visit.path.strip("/").replace("/", "-") or "list"
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    content = csv_head([column.label for column in view.columns]) + csv_lines(rows)
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


async def name_rows(visit: Visit, columns: Sequence[Column], rows: list[Json]) -> None:
    """Replace ids of colleagues by their names, and name the accounts of the ledger, with one request each."""
    if any(column.kind == "accounts" for column in columns):
        account_names = await parts.account_names(visit, rows)
        for row in rows:
            row["accountNames"] = account_names
    fields = [column.value for column in columns if column.kind == "staff" and isinstance(column.value, str)]
    names = await parts.names_of(visit, *(row[field] for row in rows for field in fields))
    for row in rows:
        row |= {field: names.get(row[field]) or (row[field] and formats.FORMER) for field in fields}


def _plain(column: Column, row: Json) -> Any:
    """Return the value for a file: a state is the API's own word, which programs read."""
    value = column.of(row)
    if column.kind == "naira" and value is not None:
        return Decimal(value).scaleb(-2)
    if column.kind == "accounts":
        return ", ".join(value)
    return value
