"""Lists with `page`, `from` and `to` (days), and Flutterwave's `meta.page_info`."""

from collections.abc import Callable
from datetime import date, timedelta
from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.flutterwave.wire import GATEWAY, failed, succeeded
from sandbox.gateway.fields import read_number
from sandbox.gateway.paging import PAGE_MAX, Conditions
from sandbox.web import RefusedError
from sandbox.world import world_of

# A caller cannot choose the size of a page.
PAGE_LENGTH = 10


async def respond_page(
    request: Request, message: str, source: str, conditions: Conditions, view: Callable[[Row], Any]
) -> Response:
    """Newest first. `source` is the text after FROM; its main table is named `listed` and has a column `gateway`."""

    def work(_fault: object) -> Response:
        return page_of(request, message, source, conditions, view)

    return await respond_with_faults(request, world_of(request).faults, "list_call", (request.url.path,), work, failed)


def page_of(
    request: Request, message: str, source: str, conditions: Conditions, view: Callable[[Row], Any]
) -> Response:
    database = world_of(request).database
    page = read_number(request, "page", 1, PAGE_MAX)
    given = [("gateway = ?", GATEWAY), *conditions, *_bounds(request)]
    given = [pair for pair in given if pair[1] is not None]
    where = " AND ".join(condition for condition, _ in given)
    values = [value for _, value in given]
    counted = database.one(f"SELECT count(*) AS total FROM {source} WHERE {where}", *values)
    total = counted["total"] if counted is not None else 0
    rows = database.all(
        f"SELECT * FROM {source} WHERE {where} ORDER BY listed.id DESC LIMIT ? OFFSET ?",
        *values,
        PAGE_LENGTH,
        (page - 1) * PAGE_LENGTH,
    )
    page_info = {"total": total, "current_page": page, "total_pages": -(-total // PAGE_LENGTH)}
    return succeeded(message, [view(row) for row in rows], {"page_info": page_info})


def _bounds(request: Request) -> Conditions:
    """Both days belong to the period."""
    since, until = _day(request, "from"), _day(request, "to")
    return [
        ("listed.created_at >= ?", None if since is None else since.isoformat()),
        ("listed.created_at < ?", None if until is None else (until + timedelta(days=1)).isoformat()),
    ]


def _day(request: Request, name: str) -> date | None:
    text = request.query_params.get(name)
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise RefusedError(400, f"{name} must be a date, YYYY-MM-DD") from None
