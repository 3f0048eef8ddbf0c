"""The gateway on a real socket, in front of a test service that records the requests it receives."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from api_gateway.app import SERVICE, Dependencies, compose
from api_gateway.limits import EdgeLimits
from api_gateway.protocol import EdgeProtocol
from api_gateway.settings import Settings
from campus_tools.servers import held_ports
from campus_tools.servers.redis import PrivateRedis
from common.primitives.ids import new_id
from common.primitives.tls import client_tls
from common.process.runtime import Runtime, running
from testkit.fixtures import PATIENT, WAIT_SECONDS_MAX, DatabaseFactory, DatabaseUrls
from testkit.service_kit import BASE_URL, Issuer, issuing, listening, served


@dataclass(slots=True)
class Upstream:
    """A service of the gateway: records its requests, returns the configured response, and can pause in a request."""

    url: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list)
    response: tuple[int, Any] = (201, {"success": True})
    headers: dict[str, str] = field(default_factory=dict)
    plain: str | None = None
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    started: int = 0
    left: int = 0
    tick: asyncio.Event = field(default_factory=asyncio.Event)
    health: int = 200
    health_checks: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    async def echo(self, request: Request) -> Response:
        self.started += 1
        try:
            body = await request.body()
        except ClientDisconnect:
            self.left += 1
            raise
        seen = {
            "method": request.method,
            "path": request.url.path,
            "query": request.url.query,
            "headers": dict(request.headers),
            "body": body,
        }
        self.seen.append(seen)
        await self.gate.wait()
        if self.plain is not None:
            return PlainTextResponse(self.plain, self.response[0])
        status, content = self.response
        return JSONResponse(content, status, headers={"X-Number": str(len(self.seen)), **self.headers})

    async def readiness(self, _: Request) -> Response:
        self.health_checks += 1
        await self.gate.wait()
        return JSONResponse({}, self.health)

    async def stream(self, _: Request) -> Response:
        async def events() -> AsyncIterator[str]:
            try:
                yield "event: token\ndata: first\n\n"
                await self.tick.wait()
                yield "event: done\ndata: last\n\n"
            finally:
                self.left += 1

        return StreamingResponse(events(), media_type="text/event-stream")

    def app(self) -> Starlette:
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return Starlette(
            routes=[
                Route("/health/serving", self.readiness),
                Route("/api/notification-delivery-logs", self.stream),
                Route("/{path:path}", self.echo, methods=methods),
            ]
        )

    @property
    def last(self) -> dict[str, Any]:
        return self.seen[-1]


@dataclass(slots=True)
class GatewayApp:
    """A running gateway with its client and its upstream service."""

    url: str
    port: int
    client: httpx.AsyncClient
    upstream: Upstream
    issuer: Issuer
    dependencies: Dependencies
    runtime: Runtime

    def bearer(self, user_id: UUID | None = None, **claims: Any) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.issuer.token(user_id or new_id(), **claims)}"}


OpenGateway = Callable[..., Awaitable[GatewayApp]]

# The database, the quota store and the services share the event loop of the edge here.
PATIENT_LIMITS = EdgeLimits(
    connect_seconds_max=WAIT_SECONDS_MAX,
    queue_seconds_max=WAIT_SECONDS_MAX,
    idle_seconds_max=WAIT_SECONDS_MAX,
    readiness_seconds_max=WAIT_SECONDS_MAX,
    work_seconds_max=WAIT_SECONDS_MAX,
    quota_store_seconds_max=WAIT_SECONDS_MAX,
    acquire_seconds_max=WAIT_SECONDS_MAX,
)


@asynccontextmanager
async def edge_served(app: Any) -> AsyncIterator[int]:
    """Yield the edge behind uvicorn, as in production; yields its port."""
    opened = socket.socket()
    opened.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        http=EdgeProtocol,
        ws="none",
        loop="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
    )
    async with listening(config, opened):
        yield opened.getsockname()[1]


def settings_for(urls: DatabaseUrls, broker_url: str, issuer: Issuer, upstream_url: str, **changed: Any) -> Settings:
    values = {
        "port": 1,
        "metrics_port": 2,
        "jwks_url": issuer.jwks_url,
        "base_url": BASE_URL,
        "api_database_url": urls.api,
        "service_database_url": urls.service,
        "broker_url": broker_url,
        # A page stays cached longer than a test that expects it.
        "edge_cache_seconds": 60,
        **{f"{name}_url": upstream_url for name in ("identity", "orders", "payments", "payouts", "notifications")},
        **changed,
    }
    return Settings(**values)


@pytest_asyncio.fixture(loop_scope="session")
async def upstream() -> AsyncIterator[Upstream]:
    made = Upstream()
    async with served(made.app()) as url:
        made.url = url
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def open_gateway(
    module_urls: DatabaseUrls, broker_url: str, upstream: Upstream, issuer: Issuer
) -> AsyncIterator[OpenGateway]:
    """`await open_gateway(limits, **settings)`: a gateway before `upstream`; several of them share their database."""
    async with AsyncExitStack() as stack:

        async def make(limits: EdgeLimits = PATIENT_LIMITS, **changed: Any) -> GatewayApp:
            settings = settings_for(
                module_urls, broker_url, issuer, changed.pop("upstream_url", upstream.url), **changed
            )
            service = replace(SERVICE, compose=partial(compose, limits=limits), limits=PATIENT)
            runtime, dependencies = await stack.enter_async_context(running(service, settings, "test"))
            port = await stack.enter_async_context(edge_served(dependencies.edge))
            url = f"http://127.0.0.1:{port}"
            client = await stack.enter_async_context(
                httpx.AsyncClient(base_url=url, timeout=60, trust_env=False, verify=client_tls())
            )
            return GatewayApp(url, port, client, upstream, issuer, dependencies, runtime)

        yield make


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def module_urls(module_database: DatabaseFactory) -> DatabaseUrls:
    return await module_database("api-gateway")


@pytest_asyncio.fixture(loop_scope="session")
async def app(open_gateway: OpenGateway) -> GatewayApp:
    return await open_gateway()


def problem_of(response: httpx.Response) -> dict[str, Any]:
    """Return the problem of a response after a check of its mandatory fields and headers."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    document: dict[str, Any] = json.loads(response.content)
    assert document["status"] == response.status_code
    assert document["requestId"] == response.headers["x-request-id"]
    assert document["type"] == f"{BASE_URL}/errors/{document['code'].lower().replace('_', '-')}"
    for name in ("limit", "remaining", "reset"):
        assert response.headers[f"ratelimit-{name}"].isdigit()
    assert response.headers["api-version"] == "v1"
    assert response.headers["cache-control"] == "no-store"
    return document


@pytest.fixture(scope="module")
def private_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateRedis]:
    """Yield a quota store of this module, which its tests may stop."""
    state = tmp_path_factory.mktemp("redis")
    (state / "servers").mkdir()
    with held_ports(1) as [port]:
        server = PrivateRedis(state, port, report=print)
        server.start()
        yield server
        server.stop()
