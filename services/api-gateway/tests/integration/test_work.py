"""`GET /api/work`: the parts of five services in one response (contract section 13.6)."""

import asyncio
import json
from typing import Any

import pytest

from api_gateway.services import UPSTREAMS
from contracts.work import OWN_ACTIONS_MAX
from testkit.fixtures import eventually
from testkit.service_kit import served

from .conftest import GatewayApp, OpenGateway, Upstream, problem_of


def item(kind: str, oldest_at: str, respond_by: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "count": 1, "oldestAt": oldest_at, "respondBy": respond_by, "link": f"/api/{kind}"}


def part(*items: dict[str, Any]) -> tuple[int, Any]:
    return 200, {"success": True, "data": list(items), "meta": {"unavailable": []}}


async def test_the_parts_of_all_services_are_one_list_with_the_earliest_deadline_first(
    open_gateway: OpenGateway, upstream: Upstream
) -> None:
    other = Upstream()
    late, soon = (
        item("late", "2026-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"),
        item("soon", "2026-01-02T00:00:00.000Z", "2026-02-01T00:00:00.000Z"),
    )
    old, young = item("old", "2025-01-01T00:00:00.000Z"), item("young", "2026-01-03T00:00:00.000Z")
    upstream.response, other.response = part(), part(late, young)
    async with served(other.app()) as url:
        app = await open_gateway(payments_url=url)
        upstream.response = part()
        response = await app.client.get("/api/work", headers=app.bearer(roles=("finance_maker",)))
        assert (response.status_code, response.json()["data"]) == (200, [late, young])
        upstream.response = part(soon, old)
        response = await app.client.get("/api/v1/work", headers=app.bearer(roles=("finance_maker",)))
    document = response.json()
    assert document["data"] == [soon] * 4 + [late] + [old] * 4 + [young]
    assert (document["success"], document["meta"]["unavailable"]) == (True, [])
    assert document["meta"]["requestId"] == response.headers["x-request-id"]
    assert response.headers["cache-control"] == "no-store"


async def test_each_service_is_queried_with_the_callers_token(app: GatewayApp) -> None:
    app.upstream.response = part()
    token = app.bearer(roles=("finance_maker",))
    response = await app.client.get("/api/work", headers={**token, "X-User-Id": "forged", "If-None-Match": "*"})
    assert response.status_code == 200
    assert len(app.upstream.seen) == len(UPSTREAMS)
    for seen in app.upstream.seen:
        assert (seen["method"], seen["path"], seen["query"]) == ("GET", "/api/work", "")
        assert set(seen["headers"]) == {"host", "authorization", "x-request-id", "traceparent"}
        assert seen["headers"]["authorization"] == token["Authorization"]
        assert seen["headers"]["x-request-id"] == response.headers["x-request-id"]


async def test_the_services_are_queried_at_the_same_time(app: GatewayApp) -> None:
    app.upstream.response = part()
    app.upstream.gate.clear()
    requested = asyncio.create_task(app.client.get("/api/work", headers=app.bearer(roles=("auditor",))))

    async def all_were_called() -> bool:
        return app.upstream.started == len(UPSTREAMS)

    await eventually(all_were_called)
    app.upstream.gate.set()
    assert (await requested).status_code == 200


@pytest.mark.parametrize("fault", ["down", 500, 503, 404, "broken"])
async def test_a_service_without_a_response_is_named(
    open_gateway: OpenGateway, upstream: Upstream, fault: int | str
) -> None:
    failing = Upstream(response=(fault if isinstance(fault, int) else 200, {"data": "?"}))
    upstream.response = part(item("old", "2025-01-01T00:00:00.000Z"))
    async with served(failing.app()) as url:
        address = "http://127.0.0.1:1" if fault == "down" else url
        app = await open_gateway(payouts_url=address)
        response = await app.client.get("/api/work", headers=app.bearer(roles=("finance_maker",)))
    assert (response.status_code, response.json()["meta"]["unavailable"]) == (200, ["payouts"])
    assert len(response.json()["data"]) == len(UPSTREAMS) - 1
    assert app.dependencies.edge.metrics.upstream_failures["payouts"] == 1


async def test_without_any_service_the_work_is_unavailable(app: GatewayApp) -> None:
    app.upstream.response = (500, {})
    response = await app.client.get("/api/work", headers=app.bearer(roles=("finance_maker",)))
    assert (response.status_code, problem_of(response)["code"]) == (503, "INTERNAL_ERROR")
    assert response.headers["retry-after"]


@pytest.mark.parametrize(("status", "code"), [(403, "AUTH_FORBIDDEN"), (422, "VALIDATION_FAILED")])
async def test_the_services_own_rejection_is_the_response(app: GatewayApp, status: int, code: str) -> None:
    app.upstream.response = (status, {"code": code, "status": status})
    app.upstream.headers = {"content-type": "application/problem+json"}
    response = await app.client.get("/api/work?kind=alerts", headers=app.bearer())
    assert (response.status_code, json.loads(response.content)["code"]) == (status, code)
    assert {seen["query"] for seen in app.upstream.seen} == {"kind=alerts"}


async def test_no_request_without_a_token_reaches_a_service(app: GatewayApp) -> None:
    response = await app.client.get("/api/work")
    assert (response.status_code, problem_of(response)["code"]) == (401, "AUTH_UNAUTHORIZED")
    assert app.upstream.seen == []
    assert (await app.client.post("/api/work", headers=app.bearer())).headers["allow"] == "GET, HEAD"


async def test_the_work_counts_as_one_request_of_its_caller(app: GatewayApp) -> None:
    app.upstream.response = part()
    token = app.bearer(roles=("finance_maker",))
    first = await app.client.get("/api/work", headers=token)
    second = await app.client.head("/api/work", headers=token)
    assert int(first.headers["ratelimit-remaining"]) - int(second.headers["ratelimit-remaining"]) == 1
    assert second.content == b""


async def test_own_actions_of_all_services_are_the_newest_hundred(
    open_gateway: OpenGateway, upstream: Upstream
) -> None:
    def actions(service: str, minute: int) -> tuple[int, Any]:
        instants = [f"2026-01-01T{hour:02d}:{minute:02d}:00.000Z" for hour in range(23, -1, -1)]
        names = {"service": service, "act": "a", "subjectKind": "order", "subjectId": "1", "detail": {"n": 1}}
        return part(*({**names, "createdAt": instant} for instant in instants))

    other = Upstream(response=actions("payments", 30))
    upstream.response = actions("orders", 0)
    async with served(other.app()) as url:
        app = await open_gateway(payments_url=url)
        path = "/api/staff-acts/current?before=2027-01-01"
        response = await app.client.get(path, headers=app.bearer(roles=("finance_maker",)))
    rows = response.json()["data"]
    assert len(rows) == OWN_ACTIONS_MAX
    assert [row["createdAt"] for row in rows] == sorted((row["createdAt"] for row in rows), reverse=True)
    assert rows[0]["service"] == "payments"
    assert rows[0]["detail"] == {"n": 1}
    assert {seen["query"] for seen in upstream.seen} == {"before=2027-01-01"}


async def test_the_settings_of_the_edge_come_before_those_of_the_services(
    open_gateway: OpenGateway, upstream: Upstream
) -> None:
    def setting(service: str) -> dict[str, Any]:
        names = {"service": service, "name": "PORT", "value": "1", "default": None, "isSet": True, "isSecret": False}
        return {**names, "meaning": "A port", "documentedIn": f"docs#{service}"}

    upstream.response = part(setting("orders"))
    app = await open_gateway(rate_tier_2=301)
    response = await app.client.get("/api/settings", headers=app.bearer(roles=("platform_admin",)))
    rows = response.json()["data"]
    assert rows[-len(UPSTREAMS) :] == [setting("orders")] * len(UPSTREAMS)
    own = {row["name"]: row for row in rows[: -len(UPSTREAMS)]}
    assert {row["service"] for row in own.values()} == {"api-gateway"}
    tier = own["RATE_TIER_2"]
    assert (tier["value"], tier["default"], tier["isSecret"]) == ("301", "300", False)
    assert (own["CURSOR_KEY"]["value"], own["CURSOR_KEY"]["isSecret"]) == (None, True)
    assert response.json()["meta"]["unavailable"] == []
