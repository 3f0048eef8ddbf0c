"""Two gateways of two cells, each in front of its own service: a request reaches the cell of its campus."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest_asyncio

from api_gateway.settings import Settings
from testkit.service_kit import served

from .conftest import GatewayApp, OpenGateway, Upstream, problem_of

IBADAN_CAMPUS = "0192f0c1-7b1e-7cc0-8b30-3a1f3f6f0002"
LAGOS_CAMPUS = "0192f0c1-7b1e-7cc0-8b30-3a1f3f6f0001"
UNNAMED_CAMPUS = "0192f0c1-7b1e-7cc0-8b30-3a1f3f6f0003"
UNREACHABLE = "http://127.0.0.1:1"


@dataclass
class TwoCells:
    """The gateway of the first cell, and the services of both. The second gateway is reached through the first."""

    lagos: GatewayApp
    of_lagos: Upstream
    of_ibadan: Upstream

    @property
    def client(self) -> httpx.AsyncClient:
        return self.lagos.client

    def student(self, campus_id: str | None) -> dict[str, str]:
        metadata = {"roles": ["buyer"], "vendor_id": None, "campus_id": campus_id}
        return self.lagos.bearer(app_metadata=metadata)


def cells_at(ibadan_url: str, lagos_url: str = UNREACHABLE) -> list[dict[str, Any]]:
    return [
        {"name": "lagos", "url": lagos_url, "campuses": [LAGOS_CAMPUS]},
        {"name": "ibadan", "url": ibadan_url, "campuses": [IBADAN_CAMPUS], "domains": ["ui.edu.ng"]},
    ]


@pytest_asyncio.fixture(loop_scope="session")
async def two_cells(open_gateway: OpenGateway, upstream: Upstream) -> AsyncIterator[TwoCells]:
    of_ibadan = Upstream()
    async with served(of_ibadan.app()) as url:
        proxies = {"trusted_proxies": "127.0.0.1"}
        ibadan = await open_gateway(
            upstream_url=url, cell="ibadan", cells=cells_at(UNREACHABLE), rate_tier_1=2, **proxies
        )
        lagos = await open_gateway(cell="lagos", cells=cells_at(ibadan.url), **proxies)
        yield TwoCells(lagos, upstream, of_ibadan)


async def test_a_student_of_another_cell_is_served_there(two_cells: TwoCells) -> None:
    two_cells.of_ibadan.response = (200, {"data": "from ibadan"})
    response = await two_cells.client.get("/api/orders?limit=2", headers=two_cells.student(IBADAN_CAMPUS))
    assert response.json() == {"data": "from ibadan"}
    assert two_cells.of_ibadan.last["path"] == "/api/orders"
    assert two_cells.of_ibadan.last["query"] == "limit=2"
    assert two_cells.of_lagos.seen == []


async def test_each_header_of_a_forwarded_response_is_sent_once(two_cells: TwoCells) -> None:
    forwarded = await two_cells.client.get("/api/orders", headers=two_cells.student(IBADAN_CAMPUS))
    own = await two_cells.client.get("/api/orders", headers=two_cells.student(LAGOS_CAMPUS))
    assert sorted(forwarded.headers.keys()) == sorted(own.headers.keys())
    assert len(forwarded.headers.raw) == len(own.headers.raw)


async def test_a_campus_that_no_cell_names_belongs_to_the_first_cell(two_cells: TwoCells) -> None:
    for campus_id in (LAGOS_CAMPUS, UNNAMED_CAMPUS, None):
        await two_cells.client.get("/api/orders", headers=two_cells.student(campus_id))
    assert len(two_cells.of_lagos.seen) == 3
    assert two_cells.of_ibadan.seen == []


async def test_a_repeated_request_with_a_key_reaches_the_service_of_the_other_cell_once(two_cells: TwoCells) -> None:
    headers = {**two_cells.student(IBADAN_CAMPUS), "Idempotency-Key": str(uuid4())}
    body = {"items": [{"productId": str(uuid4()), "quantity": 1}]}
    first = await two_cells.client.post("/api/orders/checkout", json=body, headers=headers)
    again = await two_cells.client.post("/api/orders/checkout", json=body, headers=headers)
    assert first.status_code == again.status_code == 201
    assert again.headers["x-cache-lookup"] == "HIT"
    [seen] = two_cells.of_ibadan.seen
    assert httpx.Response(200, content=seen["body"]).json() == body
    assert seen["headers"]["idempotency-key"] == headers["Idempotency-Key"]


async def test_an_anonymous_read_names_its_campus_by_query_or_path(two_cells: TwoCells) -> None:
    paths = [f"/api/vendors?limit=5&campusId={IBADAN_CAMPUS}", f"/api/campuses/{IBADAN_CAMPUS}/hubs"]
    for path in paths:
        await two_cells.client.get(path)
    assert [seen["path"] for seen in two_cells.of_ibadan.seen] == [path.partition("?")[0] for path in paths]
    assert two_cells.of_lagos.seen == []
    for path in ("/api/vendors", "/api/vendors?campusId=none"):
        await two_cells.client.get(path)
    assert len(two_cells.of_lagos.seen) == 2


async def test_a_sign_in_reaches_the_cell_of_its_mail_domain(two_cells: TwoCells) -> None:
    for address in ("ada@ui.edu.ng", "Ada@Students.UI.edu.ng "):
        await two_cells.client.post("/api/auth/login", json={"email": address, "password": "secret"})
    assert [seen["path"] for seen in two_cells.of_ibadan.seen] == ["/api/auth/login"] * 2
    own = {"email": "ada@myui.edu.ng", "password": "secret"}
    await two_cells.client.post("/api/auth/login", json=own)
    [seen] = two_cells.of_lagos.seen
    assert httpx.Response(200, content=seen["body"]).json() == own


async def test_a_refresh_reaches_the_cell_of_the_expired_token_sent_with_it(two_cells: TwoCells) -> None:
    body = {"refreshToken": "session.secret"}
    await two_cells.client.post("/api/auth/refresh", json=body, headers=two_cells.student(IBADAN_CAMPUS))
    assert [seen["path"] for seen in two_cells.of_ibadan.seen] == ["/api/auth/refresh"]
    await two_cells.client.post("/api/auth/refresh", json=body)
    assert [seen["path"] for seen in two_cells.of_lagos.seen] == ["/api/auth/refresh"]


async def test_the_other_cell_counts_the_quota_of_the_client(two_cells: TwoCells) -> None:
    path = f"/api/campuses/{IBADAN_CAMPUS}"
    statuses = [
        (await two_cells.client.get(path, headers={"X-Forwarded-For": address})).status_code
        for address in ("203.0.113.9", "203.0.113.9", "203.0.113.9", "203.0.113.10")
    ]
    assert statuses[2] == 429
    assert 429 not in (*statuses[:2], statuses[3])


async def test_a_stream_of_another_cell_is_relayed(two_cells: TwoCells) -> None:
    headers = two_cells.student(IBADAN_CAMPUS)
    async with two_cells.client.stream("GET", "/api/notification-delivery-logs", headers=headers) as response:
        lines = response.aiter_lines()
        assert await anext(lines) == "event: token"
        two_cells.of_ibadan.tick.set()
        assert "event: done" in [line async for line in lines]


async def test_a_request_that_another_cell_forwarded_by_mistake_is_refused(two_cells: TwoCells) -> None:
    headers = {**two_cells.student(IBADAN_CAMPUS), "Campus-Cell": "ibadan"}
    response = await two_cells.client.get("/api/orders", headers=headers)
    assert response.status_code == 421
    problem = problem_of(response)
    assert (problem["code"], problem["cell"]) == ("VALIDATION_FAILED", "ibadan")
    assert two_cells.of_lagos.seen == two_cells.of_ibadan.seen == []


async def test_an_unreachable_cell_is_unavailable(open_gateway: OpenGateway, upstream: Upstream) -> None:
    lagos = await open_gateway(cell="lagos", cells=cells_at(UNREACHABLE))
    metadata = {"roles": ["buyer"], "vendor_id": None, "campus_id": IBADAN_CAMPUS}
    response = await lagos.client.get("/api/orders", headers=lagos.bearer(app_metadata=metadata))
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert upstream.seen == []


async def test_a_webhook_stays_in_the_cell_where_it_arrives(two_cells: TwoCells) -> None:
    path = f"/functions/v1/gateway-webhook?campusId={IBADAN_CAMPUS}"
    await two_cells.client.post(path, content=b"{}", headers=two_cells.student(IBADAN_CAMPUS))
    assert len(two_cells.of_lagos.seen) == 1
    assert two_cells.of_ibadan.seen == []


async def test_without_cells_a_campus_changes_nothing(app: GatewayApp) -> None:
    metadata = {"roles": ["buyer"], "vendor_id": None, "campus_id": IBADAN_CAMPUS}
    await app.client.get("/api/orders", headers={**app.bearer(app_metadata=metadata), "Campus-Cell": "lagos"})
    assert len(app.upstream.seen) == 1
    assert "campus-cell" not in app.upstream.last["headers"]
    assert Settings.model_fields["cells"].default == ()
