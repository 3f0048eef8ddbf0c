"""Lists with `page`, `perPage`, `from` and `to`, or with `use_cursor`, and the gateway's `meta`."""

from collections.abc import Callable
from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.faults import FAULT_HEADER, respond_with_faults
from sandbox.gateway.fields import read_cursor, read_moment, read_number, write_cursor
from sandbox.web import ok, refused
from sandbox.world import world_of

PER_PAGE_DEFAULT = 50
# The real gateway's own bound on a page.
PER_PAGE_MAX = 1000
PAGE_MAX = 1_000_000

# (condition, value) pairs joined by AND; the conditions are written in this package, the values come from callers.
Conditions = list[tuple[str, Any]]
MetaFields = Callable[[int, int], dict[str, Any]]


async def respond_page(
    request: Request,
    message: str,
    source: str,
    conditions: Conditions,
    view: Callable[[Row], Any],
    meta: MetaFields | None = None,
    *,
    has_cursor: bool = False,
) -> Response:
    """Newest first. `source` is the FROM clause, its main table is named `listed`. `meta` gives the list's own fields
    of the meta, from the sum of the amounts and the length of a page. `has_cursor`: the list takes `use_cursor` and
    `next` too.
    """
    world = world_of(request)

    def work(_fault: object) -> Response:
        changed = False

        def row_view(row: Row) -> dict[str, Any]:
            nonlocal changed
            shown: dict[str, Any] = view(row)
            keys = [str(shown[name]) for name in ("id", "reference") if name in shown]
            fault = world.faults.claim_fault("listed_row", *keys)
            if fault is None or fault.data is None:
                return shown
            changed = True
            return shown | fault.data

        after_cursor = has_cursor and request.query_params.get("use_cursor", "").lower() == "true"
        position = read_cursor("after", request.query_params.get("next")) if after_cursor else None
        chosen = [*conditions, ("listed.id < ?", position), *_bounds(request)]
        chosen = [pair for pair in chosen if pair[1] is not None]
        listed = f"{source} WHERE {' AND '.join(condition for condition, _ in chosen) or '1'}"
        values = [value for _, value in chosen]
        if after_cursor:
            rows, fields = _rows_after_cursor(request, world.database, listed, values)
        else:
            rows, fields = _numbered_page(request, world.database, listed, values, meta)
        response = ok(message, [row_view(row) for row in rows], meta=fields)
        if changed:
            response.headers[FAULT_HEADER] = "listed_row"
        return response

    return await respond_with_faults(request, world.faults, "list_call", (request.url.path,), work, refused)


def _numbered_page(
    request: Request, database: Database, listed: str, values: list[Any], own_fields: MetaFields | None
) -> tuple[list[Row], dict[str, Any]]:
    page = read_number(request, "page", 1, PAGE_MAX)
    per_page = read_number(request, "perPage", PER_PAGE_DEFAULT, PER_PAGE_MAX)
    skipped = (page - 1) * per_page
    sums = f"SELECT count(*) AS total, coalesce(sum(listed.amount_minor), 0) AS volume FROM {listed}"
    counted = database.one(sums, *values) or {"total": 0, "volume": 0}
    rows = database.all(f"SELECT * FROM {listed} ORDER BY listed.id DESC LIMIT ? OFFSET ?", *values, per_page, skipped)
    total = counted["total"]
    meta = {"total": total, "skipped": skipped, "perPage": per_page, "page": page, "pageCount": -(-total // per_page)}
    return rows, meta | (own_fields(counted["volume"], per_page) if own_fields else {})


def _rows_after_cursor(
    request: Request, database: Database, listed: str, values: list[Any]
) -> tuple[list[Row], dict[str, Any]]:
    """Return the page after the cursor. Nothing is counted, so that the last page costs as much as the first."""
    per_page = read_number(request, "perPage", PER_PAGE_DEFAULT, PER_PAGE_MAX)
    rows = database.all(f"SELECT * FROM {listed} ORDER BY listed.id DESC LIMIT ?", *values, per_page + 1)
    shown = rows[:per_page]
    following = write_cursor("after", shown[-1]["id"]) if len(rows) > per_page else None
    return shown, {"next": following, "previous": None, "perPage": per_page}


def _bounds(request: Request) -> Conditions:
    return [
        ("listed.created_at >= ?", read_moment(request.query_params.get("from"))),
        ("listed.created_at <= ?", read_moment(request.query_params.get("to"))),
    ]
