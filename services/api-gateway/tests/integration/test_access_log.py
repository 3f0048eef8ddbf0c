"""The access log of the edge: refused calls and writes, without a secret that a client sends."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from common.primitives.ids import new_id
from testkit.fixtures import eventually

from .conftest import GatewayApp, OpenGateway

OnlyLine = Callable[[], Awaitable[dict[str, Any]]]

SECRET = "4821-planted"
PLANTED = {
    "Cookie": f"session={SECRET}",
    "User-Agent": SECRET,
    "X-Forwarded-For": "198.51.100.77",
    "X-Request-Id": SECRET,
    "Referer": f"https://shop.example/?pin={SECRET}",
}


@pytest.fixture
def only_line(access_lines: Callable[[], list[dict[str, Any]]]) -> OnlyLine:
    """Return a function that waits for the first line, which the edge writes after its response."""

    async def line() -> dict[str, Any]:
        await eventually(access_lines)
        [written] = access_lines()
        return written

    return line


async def test_a_write_has_one_line_with_its_route_caller_and_status(app: GatewayApp, only_line: OnlyLine) -> None:
    user_id, product_id = new_id(), new_id()
    response = await app.client.put(
        f"/api/products/{product_id}/variants?token={SECRET}",
        json={"email": "ada@unilag.edu.ng", "pin": SECRET},
        headers={**app.bearer(user_id), **PLANTED, "Idempotency-Key": str(new_id()), "If-Match": f'"{SECRET}"'},
    )
    line = await only_line()
    assert {name: line[name] for name in ("event", "method", "route", "caller", "status", "request_id")} == {
        "event": "write",
        "method": "PUT",
        "route": "/api/products/:id/variants",
        "caller": str(user_id),
        "status": response.status_code,
        "request_id": response.headers["x-request-id"],
    }
    assert set(line) == {"event", "method", "route", "caller", "status", "request_id", "at"}
    text = json.dumps(line)
    for secret in (SECRET, "ada@", "198.51.100.77", "127.0.0.1", "Bearer", str(product_id)):
        assert secret not in text


async def test_a_call_without_a_valid_token_is_refused_without_a_caller(app: GatewayApp, only_line: OnlyLine) -> None:
    refused = await app.client.get(
        f"/api/orders/{new_id()}?pin={SECRET}", headers={**PLANTED, "Authorization": f"Bearer {SECRET}"}
    )
    assert refused.status_code == 401
    line = await only_line()
    assert (line["event"], line["method"], line["route"], line["caller"], line["status"], line["permissions"]) == (
        "refused",
        "GET",
        "/api/orders/:id",
        None,
        401,
        [],
    )
    assert SECRET not in json.dumps(line)


async def test_a_forbidden_call_names_caller_and_permissions(app: GatewayApp, only_line: OnlyLine) -> None:
    user_id = new_id()
    app.upstream.response = (403, {"code": "AUTH_FORBIDDEN"})
    refused = await app.client.post(f"/api/payout-batches/{new_id()}/approve", json={}, headers=app.bearer(user_id))
    assert refused.status_code == 403
    line = await only_line()
    assert (line["event"], line["caller"], line["status"], line["permissions"]) == (
        "refused",
        str(user_id),
        403,
        ["payouts:approve"],
    )


async def test_a_call_above_its_quota_is_refused(open_gateway: OpenGateway, only_line: OnlyLine) -> None:
    app = await open_gateway(rate_tier_1=1)
    statuses = [(await app.client.get("/api/products")).status_code for _ in range(2)]
    assert statuses == [201, 429]
    line = await only_line()
    assert (line["event"], line["route"], line["status"]) == ("refused", "/api/products", 429)
