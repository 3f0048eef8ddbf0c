"""The calls that have a line in the access log."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from api_gateway.access import record_access
from api_gateway.call import Call
from common.web.endpoint_table import Route


@pytest.mark.parametrize(
    ("method", "status", "route", "event"),
    [
        ("GET", 200, Route("GET", "/api/orders", "orders"), None),
        ("HEAD", 404, Route("GET", "/api/orders", "orders"), None),
        ("GET", 500, Route("GET", "/api/orders", "orders"), None),
        ("OPTIONS", 204, None, None),
        ("POST", 404, None, None),
        ("POST", 201, Route("POST", "/api/orders", "orders"), "write"),
        ("POST", 499, Route("POST", "/api/orders", "orders"), "write"),
        ("DELETE", 503, Route("DELETE", "/api/orders/:id", "orders"), "write"),
        ("POST", 401, Route("POST", "/api/orders", "orders"), "refused"),
        ("GET", 403, Route("GET", "/api/orders", "orders"), "refused"),
        ("GET", 429, None, "refused"),
    ],
)
def test_writes_and_refused_calls_have_a_line(
    method: str, status: int, route: Route | None, event: str | None, access_lines: Callable[[], list[dict[str, Any]]]
) -> None:
    call = Call.unparsed(b"/api/orders", datetime(2026, 1, 1, tzinfo=UTC), 60)
    call.method, call.status, call.route = method, status, route
    record_access(call)
    assert [line["event"] for line in access_lines()] == ([event] if event else [])
