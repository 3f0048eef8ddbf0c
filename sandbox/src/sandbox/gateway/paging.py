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

        if has_cursor and request.query_params.get("use_cursor", "").lower() == "true":
            response = _page_after_cursor(request, world.database, message, source, conditions, row_view)
        else:
            fields = meta or (lambda volume_minor, length: {})
            response = _page(request, world.database, message, source, conditions, row_view, fields)
        if changed:
            response.headers[FAULT_HEADER] = "listed_row"
        return response

    return await respond_with_faults(request, world.faults, "list_call", (request.url.path,), work, refused)


def _page(
    request: Request,
    database: Database,
    message: str,
    source: str,
    conditions: Conditions,
    view: Callable[[Row], Any],
    fields: MetaFields,
) -> Response:
    page = read_number(request, "page", 1, PAGE_MAX)
    per_page = read_number(request, "perPage", PER_PAGE_DEFAULT, PER_PAGE_MAX)
    conditions = [pair for pair in (*conditions, *_bounds(request)) if pair[1] is not None]
    where = " AND ".join(condition for condition, _ in conditions) or "1"
    values = [value for _, value in conditions]
    counted = database.one(
        f"SELECT count(*) AS total, coalesce(sum(listed.amount_minor), 0) AS volume FROM {source} WHERE {where}",
        *values,
    )
    total = counted["total"] if counted is not None else 0
    rows = database.all(
        f"SELECT * FROM {source} WHERE {where} ORDER BY listed.id DESC LIMIT ? OFFSET ?",
        *values,
        per_page,
        (page - 1) * per_page,
    )
    meta = {
        "total": total,
        "skipped": (page - 1) * per_page,
        "perPage": per_page,
        "page": page,
        "pageCount": -(-total // per_page),
        **fields(0 if counted is None else counted["volume"], per_page),
    }
    return ok(message, [view(row) for row in rows], meta=meta)


def _page_after_cursor(
    request: Request,
    database: Database,
    message: str,
    source: str,
    conditions: Conditions,
    view: Callable[[Row], Any],
) -> Response:
    """Return the page after the cursor. Nothing is counted, so that the last page costs as much as the first."""
    per_page = read_number(request, "perPage", PER_PAGE_DEFAULT, PER_PAGE_MAX)
    position = ("listed.id < ?", read_cursor("after", request.query_params.get("next")))
    conditions = [pair for pair in (*conditions, position, *_bounds(request)) if pair[1] is not None]
    where = " AND ".join(condition for condition, _ in conditions) or "1"
    values = [value for _, value in conditions]
    rows = database.all(f"SELECT * FROM {source} WHERE {where} ORDER BY listed.id DESC LIMIT ?", *values, per_page + 1)
    shown = rows[:per_page]
    following = write_cursor("after", shown[-1]["id"]) if len(rows) > per_page else None
    meta = {"next": following, "previous": None, "perPage": per_page}
    return ok(message, [view(row) for row in shown], meta=meta)


def _bounds(request: Request) -> Conditions:
    return [
        ("listed.created_at >= ?", read_moment(request.query_params.get("from"))),
        ("listed.created_at <= ?", read_moment(request.query_params.get("to"))),
    ]
