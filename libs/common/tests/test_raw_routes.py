"""A raw endpoint has the guard, problems, bugs, methods and documentation of any other."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import CREDENTIALS, PUBLIC, SIGNED_IN
from common.auth.tokens import TokenVerifier
from common.auth.verification_keys import KeySet
from common.primitives.clock import ManualClock
from common.primitives.problems import Conflict, Problem
from common.web.endpoints import Endpoints
from common.web.http import Application, create_app, ok
from common.web.http_context import HttpContext
from common.web.request_scope import RequestScope

BASE_URL = "http://localhost:8080"


class OutOfOrder(Conflict):
    detail = "It is out of order."


def endpoints() -> Endpoints:
    """Each endpoint twice: as a raw one, and as one of the framework's."""
    endpoint = Endpoints("test")
    for prefix in ("/raw", "/framed"):
        raw = prefix == "/raw"

        @endpoint("GET", f"{prefix}/open", allow=PUBLIC, raw=raw)
        async def show(request: Request) -> Response:
            return ok(request, "shown")

        @endpoint("GET", f"{prefix}/way-in", allow=CREDENTIALS, raw=raw)
        async def enter(request: Request) -> Response:
            return ok(request, "in")

        @endpoint("GET", f"{prefix}/closed", allow=SIGNED_IN, raw=raw)
        async def keep(request: Request) -> Response:
            return ok(request, "never shown")

        @endpoint("GET", f"{prefix}/refusing", allow=PUBLIC, raw=raw)
        async def refuse(request: Request) -> Response:
            raise OutOfOrder

        @endpoint("GET", f"{prefix}/broken", allow=PUBLIC, raw=raw)
        async def break_down(request: Request) -> Response:
            raise ZeroDivisionError

    return endpoint


@pytest.fixture
def app() -> Application:
    clock = ManualClock()
    verifier = TokenVerifier(KeySet("http://127.0.0.1:1/", clock), issuer=BASE_URL, clock=clock)
    context = HttpContext(verifier, clock, BASE_URL)
    return create_app(title="test", endpoints=[endpoints()], context=context, dependencies=None)


@pytest_asyncio.fixture(loop_scope="session")
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=RequestScope(app), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "token", "status", "code"),
    [
        ("open", None, 200, None),
        ("open", "nonsense", 401, "AUTH_UNAUTHORIZED"),
        ("way-in", "nonsense", 200, None),
        ("closed", None, 401, "AUTH_UNAUTHORIZED"),
        ("closed", "nonsense", 401, "AUTH_UNAUTHORIZED"),
        ("refusing", None, 409, "CONCURRENCY_CONFLICT"),
        ("broken", None, 500, "INTERNAL_ERROR"),
    ],
)
async def test_a_raw_route_responds_like_any_other(
    client: httpx.AsyncClient, path: str, token: str | None, status: int, code: str | None
) -> None:
    headers = {"X-Request-Id": "req_0123456789abcdef"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    raw, framed = [await client.get(f"/{kind}/{path}", headers=headers) for kind in ("raw", "framed")]
    assert (raw.status_code, raw.json().get("code")) == (status, code)
    assert raw.json() == framed.json() | ({} if code is None else {"instance": f"/raw/{path}"})
    assert sorted(raw.headers.multi_items()) == [
        (name, str(len(raw.content)) if name == "content-length" else value)
        for name, value in sorted(framed.headers.multi_items())
    ]


async def test_another_method_of_a_raw_route_is_405(client: httpx.AsyncClient) -> None:
    response = await client.post("/raw/open")
    assert (response.status_code, response.headers["allow"]) == (405, "GET")


def test_a_raw_route_is_documented(app: Application) -> None:
    paths = app.openapi()["paths"]
    assert paths["/raw/open"].keys() == paths["/framed/open"].keys() == {"get"}


def test_a_raw_endpoint_with_a_parameter_is_rejected() -> None:
    with pytest.raises(TypeError, match="fixed path"):

        @Endpoints("test")("GET", "/raw/{name}", allow=PUBLIC, raw=True)
        async def show(request: Request) -> Response:
            raise Problem


async def test_a_draining_process_closes_each_connection(app: FastAPI) -> None:
    """A request that is sent on a kept connection in the moment in which it is closed would be lost."""
    scope = RequestScope(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=scope), base_url="http://service") as client:
        assert "connection" not in (await client.get("/raw/open")).headers
        scope.start_draining()
        for path in ("/raw/open", "/framed/open", "/nowhere"):
            assert (await client.get(path)).headers["connection"] == "close"


async def test_a_problem_names_the_path_of_the_client(client: httpx.AsyncClient) -> None:
    for headers, instance in (({}, "/api/nothing"), ({"X-Api-Version": "v1"}, "/api/v1/nothing")):
        response = await client.get("/api/nothing", headers=headers)
        assert (response.status_code, response.json()["instance"]) == (404, instance)


async def test_a_time_out_is_unavailable_and_no_bug(app: FastAPI, client: httpx.AsyncClient) -> None:
    async def hangs(_: Request) -> Response:
        raise TimeoutError

    app.router.add_route("/api/hangs", hangs)
    response = await client.get("/api/hangs")
    assert (response.status_code, response.json()["code"]) == (503, "INTERNAL_ERROR")
    assert int(response.headers["retry-after"]) > 0
