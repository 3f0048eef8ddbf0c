"""Dead webhooks of payments and notifications at the edge: one list and one replay (contract section 7.8)."""

import json
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from testkit.service_kit import served

from .conftest import GatewayApp, OpenGateway

LIST = "/api/dead-letter-webhooks"


class DeadWebhooks:
    """The part of one service: an offset list, newest first, and an operation on a row by its id or event id."""

    def __init__(self, service: str, minutes: range) -> None:
        self.rows: list[dict[str, str]] = [
            {"id": str(uuid4()), "eventId": f"{service}.event:{minute}", "failedAt": _time(minute)}
            for minute in minutes
        ]
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self.status = 200

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route(LIST, self.page),
                Route(f"{LIST}/{{key}}", self.resolve),
                Route(f"{LIST}/{{key}}/{{verb}}", self.resolve, methods=["POST"]),
            ]
        )

    async def page(self, request: Request) -> Response:
        self.requests.append(request.url.query)
        if self.status != 200:
            return _problem(self.status)
        page, limit = int(request.query_params.get("page", 1)), int(request.query_params.get("limit", 20))
        newest = request.query_params.get("order") != "asc"
        rows = sorted(self.rows, key=lambda row: row["failedAt"], reverse=newest)
        meta = {"page": page, "limit": limit, "total": len(rows), "total_pages": -(-len(rows) // limit)}
        return JSONResponse({"success": True, "data": rows[(page - 1) * limit : page * limit], "meta": meta})

    async def resolve(self, request: Request) -> Response:
        key = request.path_params["key"]
        self.bodies.append(await request.body())
        self.requests.append(key)
        found = [row for row in self.rows if key in (row["id"], row["eventId"])]
        return JSONResponse({"success": True, "data": found[0]}) if found else _problem(404)


def _time(minute: int) -> str:
    return f"2026-01-{1 + minute // 1440:02}T{minute % 1440 // 60:02}:{minute % 60:02}:00.000Z"


def _problem(status: int) -> Response:
    return JSONResponse({"status": status, "code": "X"}, status, media_type="application/problem+json")


class Parts:
    def __init__(self, gateway: GatewayApp, payments: DeadWebhooks, notifications: DeadWebhooks) -> None:
        self.gateway, self.payments, self.notifications = gateway, payments, notifications
        self.token = gateway.bearer(roles=("ops_oncall",))

    async def get(self, query: str = "") -> Any:
        return await self.gateway.client.get(f"{LIST}?{query}", headers=self.token)

    async def replay(self, key: str, **headers: str) -> Any:
        return await self.gateway.client.post(f"{LIST}/{key}/replay", headers={**self.token, **headers})


@pytest_asyncio.fixture(loop_scope="session")
async def parts(open_gateway: OpenGateway):
    payments, notifications = DeadWebhooks("payments", range(0, 500, 2)), DeadWebhooks("messages", range(1, 31, 2))
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(served(part.app())) for part in (payments, notifications)]
        yield Parts(await open_gateway(payments_url=urls[0], notifications_url=urls[1]), payments, notifications)


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize(("page", "limit"), [(1, 20), (1, 100), (2, 20), (3, 7), (3, 100), (14, 20), (15, 20)])
async def test_each_page_is_that_of_one_list(parts: Parts, page: int, limit: int, order: str) -> None:
    response = await parts.get(f"page={page}&limit={limit}&order={order}&outcome=dead")
    rows = sorted(
        [*parts.payments.rows, *parts.notifications.rows], key=lambda row: row["failedAt"], reverse=order == "desc"
    )
    document = response.json()
    assert (response.status_code, document["data"]) == (200, rows[(page - 1) * limit : page * limit])
    meta = {"page": page, "limit": limit, "total": 265, "total_pages": -(-265 // limit), "unavailable": []}
    assert meta.items() <= document["meta"].items()
    assert all("outcome=dead" in query for query in [*parts.payments.requests, *parts.notifications.requests])


async def test_a_first_page_is_one_request_to_each_service(parts: Parts) -> None:
    await parts.get("outcome=dead")
    assert (parts.payments.requests, parts.notifications.requests) == (["outcome=dead"], ["outcome=dead"])


async def test_a_service_without_a_response_is_named(parts: Parts) -> None:
    parts.notifications.status = 503
    response = await parts.get("limit=100")
    assert (len(response.json()["data"]), response.json()["meta"]["unavailable"]) == (100, ["notifications"])


async def test_a_rejection_of_the_services_is_the_response(parts: Parts) -> None:
    parts.payments.status = parts.notifications.status = 422
    assert (await parts.get("page=0")).status_code == 422


@pytest.mark.parametrize("by", ["id", "eventId"])
async def test_the_details_come_from_the_service_that_has_the_webhook(parts: Parts, by: str) -> None:
    for part in (parts.payments, parts.notifications):
        response = await parts.gateway.client.get(f"{LIST}/{part.rows[0][by]}", headers=parts.token)
        assert (response.status_code, response.json()["data"]) == (200, part.rows[0])
    missing = await parts.gateway.client.get(f"{LIST}/{uuid4()}", headers=parts.token)
    assert missing.status_code == 404


@pytest.mark.parametrize("by", ["id", "eventId"])
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "one"}])
async def test_a_replay_reaches_the_service_that_has_the_webhook(
    parts: Parts, by: str, headers: dict[str, str]
) -> None:
    for part in (parts.payments, parts.notifications):
        key = {name: f"{uuid4()}" for name in headers}
        response = await parts.replay(part.rows[0][by], **key)
        assert (response.status_code, response.json()["data"]) == (200, part.rows[0])
    assert len(parts.notifications.requests) == 1


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": str(uuid4())}])
async def test_a_closure_reaches_each_service_with_its_reason(parts: Parts, headers: dict[str, str]) -> None:
    [row, *_] = parts.notifications.rows
    response = await parts.gateway.client.post(
        f"{LIST}/{row['eventId']}/close", json={"reason": "spam"}, headers={**parts.token, **headers}
    )
    assert (response.status_code, response.json()["data"]) == (200, row)
    assert [json.loads(body) for body in [*parts.payments.bodies, *parts.notifications.bodies]] == [
        {"reason": "spam"}
    ] * 2


async def test_a_replay_of_an_unknown_webhook_is_404(parts: Parts) -> None:
    key = str(uuid4())
    response = await parts.replay(key)
    assert (response.status_code, parts.payments.requests, parts.notifications.requests) == (404, [key], [key])
