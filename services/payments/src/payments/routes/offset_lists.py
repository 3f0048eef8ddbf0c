"""The response of an offset list."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from common.web.http import OffsetPage, ok


def listed(request: Request, page: OffsetPage, found: tuple[list[dict[str, Any]], int]) -> Response:
    """One page of items with the pagination fields; `found` has the items and the total count."""
    items, total = found
    meta: dict[str, Any] = dict(page.meta(total))
    return ok(request, items, **meta)
