"""Unknown orders, parameters and fields are rejected, and malformed bodies are named."""

from collections.abc import AsyncIterator
from typing import Annotated

import httpx
import pytest
import pytest_asyncio
from fastapi import Depends, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import PUBLIC, SIGNED_IN
from common.auth.tokens import Revocations, TokenVerifier
from common.auth.verification_keys import KeySet
from common.primitives.clock import SystemClock
from common.primitives.ids import new_id
from common.primitives.problems import INVALID_PARAMS_MAX
from common.web.endpoints import Endpoints
from common.web.http import (
    LIMIT_DEFAULT,
    Cursor,
    Limit,
    create_app,
    ok,
)
from common.web.http_context import HttpContext
from common.web.pages import OffsetPage, offset_page
from common.web.request_scope import RequestScope
from common.web.schemas import RequestBody
from testkit.fixtures import PATIENT
from testkit.service_kit import BASE_URL, issuing

endpoint = Endpoints("test")


class Named(RequestBody):
    name: str


@endpoint("GET", "/api/by-cursor", allow=PUBLIC)
async def by_cursor(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
    return ok(request, [])


@endpoint("GET", "/api/by-page", allow=PUBLIC)
async def by_page(
    request: Request, page: Annotated[OffsetPage, Depends(offset_page("created_at", "total"))]
) -> Response:
    return ok(request, page.sort)


@endpoint("GET", "/api/no-list", allow=PUBLIC)
async def no_list(request: Request) -> Response:
    return ok(request, "here")


@endpoint(
    "GET",
    "/api/raw",
    allow=PUBLIC,
    raw=True,
    openapi_extra={"parameters": [{"name": "known", "in": "query", "schema": {"type": "string"}}]},
)
async def raw_route(request: Request) -> Response:
    return ok(request, "here")


@endpoint("GET", "/api/machine", allow=PUBLIC, raw=True, any_query=True)
async def machine(request: Request) -> Response:
    return ok(request, "here")


@endpoint("GET", "/elsewhere", allow=PUBLIC)
async def elsewhere(request: Request) -> Response:
    return ok(request, "here")


@endpoint("POST", "/api/no-body", allow=SIGNED_IN)
async def no_body(request: Request) -> Response:
    return ok(request, "done")


@endpoint("POST", "/api/body", allow=SIGNED_IN)
async def with_body(request: Request, body: Named) -> Response:
    return ok(request, body.name)


@endpoint("POST", "/api/optional-body", allow=SIGNED_IN)
async def with_optional_body(request: Request, body: Named | None = None) -> Response:
    return ok(request, body and body.name)


@pytest_asyncio.fixture(loop_scope="session")
async def client() -> AsyncIterator[httpx.AsyncClient]:
    clock = SystemClock()
    async with issuing() as issuer:
        verifier = TokenVerifier(
            KeySet(issuer.jwks_url, clock, seconds_max=PATIENT.identity),
            issuer=BASE_URL,
            clock=clock,
            revocations=Revocations(),
        )
        context = HttpContext(verifier, clock, BASE_URL)
        app = RequestScope(create_app(title="test", endpoints=[endpoint], context=context, dependencies=None))
        headers = {"Authorization": f"Bearer {issuer.token(new_id())}", "Content-Type": "application/json"}
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
            yield client


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/api/by-cursor", 200),
        ("/api/by-cursor?sort=created_at", 200),
        ("/api/by-cursor?sort=zzz", 422),
        ("/api/by-cursor?sort=", 422),
        ("/api/by-cursor?sort=created_at&sort=zzz", 422),
        ("/api/by-page?sort=total", 200),
        ("/api/by-page?sort=zzz", 422),
        ("/api/by-page?sort=total&order=asc", 200),
    ],
)
async def test_a_list_rejects_an_unknown_order(client: httpx.AsyncClient, target: str, status: int) -> None:
    response = await client.get(target)
    assert response.status_code == status
    if status == 422:
        assert [param["name"] for param in response.json()["invalid_params"]] == ["sort"]


@pytest.mark.parametrize(
    ("method", "target", "named"),
    [
        ("GET", "/api/by-cursor?unknown=zzz", ["unknown"]),
        ("GET", "/api/by-cursor?limit=2&Limit=3&page=1", ["Limit", "page"]),
        ("GET", "/api/by-cursor?unknown", ["unknown"]),
        ("GET", "/api/by-cursor?=1", [""]),
        ("GET", "/api/by-page?cursor=1", ["cursor"]),
        ("GET", "/api/no-list?sort=zzz", ["sort"]),
        ("GET", "/api/raw?known=1", []),
        ("GET", "/api/raw?known=1&other=2", ["other"]),
        ("POST", "/api/no-body?dryRun=true", ["dryRun"]),
        ("GET", "/api/machine?hub.mode=x&whatever=1", []),
        ("GET", "/elsewhere?unknown=zzz", []),
    ],
)
async def test_an_unknown_parameter_is_named(client: httpx.AsyncClient, method: str, target: str, named) -> None:
    response = await client.request(method, target)
    assert response.status_code == (422 if named else 200)
    assert [param["name"] for param in response.json().get("invalid_params", [])] == named


async def test_the_guard_is_checked_before_the_parameters(client: httpx.AsyncClient) -> None:
    client.headers.pop("Authorization")
    response = await client.post("/api/no-body?dryRun=true")
    assert (response.status_code, response.json()["code"]) == (401, "AUTH_UNAUTHORIZED")


async def test_the_number_of_reported_parameters_is_bounded(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/no-list?" + "&".join(f"n{number}{'x' * 150}=1" for number in range(300)))
    assert len(response.json()["invalid_params"]) == INVALID_PARAMS_MAX
    assert len(response.content) < 16 * 1024


def test_the_order_of_each_list_is_an_enum_in_openapi() -> None:
    app = FastAPI()
    app.router.routes.extend(endpoint.routes)
    paths = app.openapi()["paths"]

    def schema_of(path, name):
        [found] = [each["schema"] for each in paths[path]["get"]["parameters"] if each["name"] == name]
        return found

    assert schema_of("/api/by-cursor", "sort")["enum"] == ["created_at"]
    assert schema_of("/api/by-page", "sort")["enum"] == ["created_at", "total"]
    assert schema_of("/api/by-page", "order")["enum"] == ["asc", "desc"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", None),
        (b"{}", None),
        (b' {"note": 1}', "note"),
        (b"[]", "body"),
        (b"null", "body"),
        (b"{", "body"),
        (b"\xff", "body"),
        (b"[" * 50_000, "body"),
    ],
)
async def test_an_operation_without_a_body_rejects_every_body(
    client: httpx.AsyncClient, body, named: str | None
) -> None:
    response = await client.post("/api/no-body", content=body)
    assert response.status_code == (200 if named is None else 422)
    if named is not None:
        assert [param["name"] for param in response.json()["invalid_params"]] == [named]


@pytest.mark.parametrize("body", [b"[" * 50_000, b'{"name": "\xff"}', b'{"name": 1' + b"0" * 10_000 + b"}"])
async def test_a_malformed_body_is_named(client: httpx.AsyncClient, body) -> None:
    response = await client.post("/api/body", content=body)
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert [param["name"] for param in response.json()["invalid_params"]] == ["body"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
async def test_a_body_must_be_utf_8(client: httpx.AsyncClient, encoding: str) -> None:
    for path in ("/api/body", "/api/no-body"):
        response = await client.post(path, content='{"name": "x"}'.encode(encoding))
        assert response.status_code == 422
        assert response.json()["invalid_params"][0]["name"] == "body"


async def test_the_length_of_an_error_response_is_bounded(client: httpx.AsyncClient) -> None:
    fields = ",".join(f'"f{number}": 1' for number in range(5_000))
    response = await client.post("/api/body", content=f'{{{fields}, "{"x" * 50_000}": 1}}')
    assert response.status_code == 422
    assert len(response.json()["invalid_params"]) == INVALID_PARAMS_MAX
    assert len(response.content) < 16 * 1024
    assert len((await client.post("/api/body", content=f'{{"{"x" * 50_000}": 1}}')).content) < 16 * 1024


@pytest.mark.parametrize(("body", "status"), [(b"", 200), (b'{"name": "Ada"}', 200), (b"null", 422), (b" null\n", 422)])
async def test_null_is_no_absent_body(client: httpx.AsyncClient, body: bytes, status: int) -> None:
    assert (await client.post("/api/optional-body", content=body)).status_code == status
