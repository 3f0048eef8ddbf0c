"""The headers of every response, and the limits for large responses and many requests."""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api_gateway.forwarding import STORED_BYTES_MAX
from api_gateway.load import SLOW_SECONDS
from api_gateway.routing import RouteTable
from api_gateway.services import ORDERS, PAYMENTS
from campus_tools.servers.redis import PrivateRedis
from common.auth.guards import CREDENTIALS, PUBLIC, SIGNATURE
from common.primitives.clock import SystemClock
from common.primitives.ids import new_id
from common.web.endpoint_table import Idempotency, Media, Quota, Route
from testkit.fixtures import eventually
from testkit.service_kit import BASE_URL

from .conftest import GatewayApp, OpenGateway, edge_served, problem_of

NAMED = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")
FIELD = re.compile(r'"([a-z0-9-]+)";(?:q=(\d+);w=(\d+)|r=(\d+);t=(\d+))')
# One of each kind: passed on, the gateway's own, refused by each step.
RESPONSES = [
    ("GET", "/api/products", {}),
    ("GET", "/health/liveness", {}),
    ("GET", "/health/readiness", {}),
    ("GET", "/docs", {}),
    ("GET", "/errors/validation-failed", {}),
    ("GET", "/openapi.json", {}),
    ("GET", "/.well-known/jwks.json", {}),
    ("GET", "/nowhere", {}),
    ("DELETE", "/api/products", {}),
    ("GET", "/api/orders", {}),
    ("POST", "/api/orders/checkout", {}),
    ("POST", "/api/auth/login", {"json": {}}),
    ("POST", "/functions/v1/gateway-webhook", {"content": b"{}"}),
    ("GET", "/api/products?q=" + "x" * 9_000, {}),
    ("HEAD", "/api/products", {}),
]


@pytest.mark.parametrize("store", [False, True], ids=["in the process", "in a store"])
async def test_every_response_has_its_quota_in_both_forms(
    open_gateway: OpenGateway, private_redis: PrivateRedis, store: bool
) -> None:
    app = await open_gateway(**({"rate_limit_store_url": private_redis.url} if store else {}))
    for method, path, content in RESPONSES:
        response = await app.client.request(method, path, **content)
        assert [len(response.headers.get_list(name)) for name in (*NAMED, "ratelimit", "ratelimit-policy")] == [1] * 5
        policy, left = (
            FIELD.fullmatch(response.headers["ratelimit-policy"]),
            FIELD.fullmatch(response.headers["ratelimit"]),
        )
        assert policy is not None, response.headers
        assert left is not None, response.headers
        assert policy[1] == left[1]
        assert (policy[2], policy[3]) == (response.headers["ratelimit-limit"], "60")
        assert left[4] == response.headers["ratelimit-remaining"]


async def test_retry_after_is_not_before_the_reset(
    open_gateway: OpenGateway,
) -> None:
    app = await open_gateway(rate_tier_1=2)
    results = [await app.client.get("/api/products") for _ in range(3)]
    assert [response.status_code for response in results] == [201, 201, 429]
    left = FIELD.fullmatch(results[-1].headers["ratelimit"])
    assert left is not None
    assert (left[1], left[4]) == ("tier-1", "0")
    assert int(results[-1].headers["retry-after"]) >= int(left[5])
    assert results[-1].headers["ratelimit-policy"] == '"tier-1";q=2;w=60'


async def test_each_counter_is_named_by_its_tier(app: GatewayApp) -> None:
    async def policy(method: str, path: str, **content: Any) -> str:
        return (await app.client.request(method, path, **content)).headers["ratelimit-policy"]

    assert await policy("GET", "/api/orders", headers=app.bearer()) == '"tier-2";q=300;w=60'
    assert await policy("GET", "/api/orders", headers=app.bearer(roles=["merchant"])) == '"tier-3";q=600;w=60'
    assert await policy("POST", "/api/auth/login", json={"email": "a@b.example"}) == '"tier-4";q=10;w=60'
    assert await policy("POST", "/functions/v1/gateway-webhook", content=b"{}") == '"machines";q=6000;w=60'


# Browsers

SHOP = "https://shop.example"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, idempotency-key",
}


async def test_a_page_of_an_allowed_origin_reads_what_it_needs_and_sends_no_cookie(open_gateway: OpenGateway) -> None:
    app = await open_gateway(allowed_origins=SHOP)
    preflight = await app.client.options("/api/orders/checkout", headers={"Origin": SHOP, **PREFLIGHT})
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, SHOP)
    accepted = {name.strip().lower() for name in preflight.headers["access-control-allow-headers"].split(",")}
    assert {"authorization", "content-type", "idempotency-key", "if-match", "if-none-match"} <= accepted
    assert {"traceparent", "tracestate"} <= accepted
    for path, status in (("/api/products", 201), ("/api/orders", 401), ("/nowhere", 404), ("/health/liveness", 200)):
        response = await app.client.get(path, headers={"Origin": SHOP})
        assert (response.status_code, response.headers["access-control-allow-origin"]) == (status, SHOP)
        exposed = {name.strip().lower() for name in response.headers["access-control-expose-headers"].split(",")}
        assert {
            *NAMED,
            "ratelimit",
            "ratelimit-policy",
            "x-request-id",
            "x-cache-lookup",
            "etag",
            "retry-after",
        } <= exposed
        assert "access-control-allow-credentials" not in response.headers
        assert response.headers.get_list("vary")[0] == "Origin"


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://shop.example", f"{SHOP}.evil.example", f"{SHOP}:444", "null", SHOP.upper()],
)
async def test_another_origin_gets_no_cors_headers(open_gateway: OpenGateway, origin: str) -> None:
    app = await open_gateway(allowed_origins=SHOP)
    for response in (
        await app.client.options("/api/orders/checkout", headers={"Origin": origin, **PREFLIGHT}),
        await app.client.get("/api/products", headers={"Origin": origin}),
    ):
        assert not [name for name in response.headers if name.startswith("access-control-")]
        assert response.headers.get_list("vary")[0] == "Origin"


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        ("http://localhost:5173", True),
        ("http://localhost", True),
        ("http://localhost:", False),
        ("http://localhost:5173.evil.example", False),
        ("http://localhost.evil.example:5173", False),
        ("http://localhost:*", False),
        ("https://localhost:5173", False),
        ("http://127.0.0.1:5173", False),
    ],
)
async def test_any_port_is_allowed_by_a_wildcard_origin(
    open_gateway: OpenGateway, origin: str, is_allowed: bool
) -> None:
    app = await open_gateway(allowed_origins="http://localhost:*")
    preflight = await app.client.options("/api/orders/checkout", headers={"Origin": origin, **PREFLIGHT})
    read = await app.client.get("/api/products", headers={"Origin": origin})
    assert preflight.status_code == (204 if is_allowed else 405)
    for response in (preflight, read):
        assert response.headers.get("access-control-allow-origin") == (origin if is_allowed else None)


@pytest.mark.parametrize("allowed", ["", SHOP])
async def test_a_rejected_preflight_names_its_origin_and_the_setting(open_gateway: OpenGateway, allowed: str) -> None:
    app = await open_gateway(allowed_origins=allowed)
    preflight = await app.client.options(
        "/api/orders/checkout", headers={"Origin": "https://evil.example", **PREFLIGHT}
    )
    detail = problem_of(preflight)["detail"]
    assert (preflight.status_code, preflight.headers["allow"]) == (405, "POST")
    assert all(word in detail for word in ("https://evil.example", "ALLOWED_ORIGINS", "gateway", "payments"))


async def test_preflights_do_not_consume_the_quota_of_their_address(open_gateway: OpenGateway) -> None:
    app = await open_gateway(allowed_origins=SHOP, rate_tier_1=1)
    for origin in (SHOP, "https://evil.example"):
        preflight = await app.client.options("/api/orders/checkout", headers={"Origin": origin, **PREFLIGHT})
        assert preflight.headers["ratelimit-remaining"] == "1"
    assert (await app.client.get("/api/products")).status_code == 201


async def test_without_origins_no_page_gets_cors_headers(app: GatewayApp) -> None:
    response = await app.client.get("/api/products", headers={"Origin": SHOP})
    assert not [name for name in response.headers if name.startswith("access-control-")]


# The security headers of every response

SECURITY = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}


@pytest.mark.parametrize(("method", "path", "content"), RESPONSES, ids=[f"{one[0]} {one[1][:40]}" for one in RESPONSES])
async def test_every_response_has_security_headers(
    app: GatewayApp, method: str, path: str, content: dict[str, Any]
) -> None:
    response = await app.client.request(method, path, **content)
    assert {name: response.headers[name] for name in SECURITY} == SECURITY
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    for banner in ("server", "x-powered-by", "via"):
        assert banner not in response.headers
    # The test's own address is plain HTTP: a browser would be locked out.
    assert ("strict-transport-security" in response.headers) == BASE_URL.startswith("https:")


async def test_https_responses_have_hsts(open_gateway: OpenGateway) -> None:
    app = await open_gateway(base_url="https://campus.example")
    response = await app.client.get("/api/products")
    assert response.headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"


# A route that ends

NOTICE = SystemClock().now().replace(microsecond=0) - timedelta(days=30)
SUNSET = NOTICE + timedelta(days=200)
OLD: dict[str, Any] = {"deprecated_at": NOTICE, "sunset_at": SUNSET, "successor": "https://campus.example/docs#v2"}
OLD_ROUTES = (
    Route("GET", "/api/old", ORDERS, guard=PUBLIC, **OLD),
    Route("GET", "/api/old/mine", ORDERS, **OLD),
    Route("POST", "/api/old", PAYMENTS, idempotency=Idempotency.REQUIRED, **OLD),
    Route("POST", "/api/old/login", ORDERS, Quota.ACCOUNT, guard=CREDENTIALS, **OLD),
    Route("POST", "/api/old/hook", PAYMENTS, Quota.MACHINES, guard=SIGNATURE, media=Media.ANY, **OLD),
    Route("GET", "/api/new", ORDERS, guard=PUBLIC),
)


def deprecation_headers_of(response: httpx.Response) -> tuple[str | None, str | None, str | None]:
    return response.headers.get("deprecation"), response.headers.get("sunset"), response.headers.get("link")


async def test_a_deprecated_route_has_its_headers_on_every_response_until_the_sunset(app: GatewayApp) -> None:
    edge = replace(app.dependencies.edge, routes=RouteTable(OLD_ROUTES), page_cache=None)
    expected = (
        f"@{int(NOTICE.timestamp())}",
        SUNSET.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        '<https://campus.example/docs#v2>; rel="sunset"',
    )
    user = app.bearer(new_id())
    key = {"Idempotency-Key": str(uuid4())}
    async with (
        edge_served(edge) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        results = {
            "passed on": (await client.get("/api/old"), 201),
            "by its other name": (await client.get("/api/v1/old"), 201),
            "no token": (await client.get("/api/old/mine"), 401),
            "no key": (await client.post("/api/old", json={}, headers=user), 422),
            "under a key": (await client.post("/api/old", json={}, headers=user | key), 201),
            "repeated": (await client.post("/api/old", json={}, headers=user | key), 201),
            "wrong media type": (await client.post("/api/old/login", content=b"x"), 415),
            "credentials": (await client.post("/api/old/login", json={"email": "a@b.example"}), 201),
            "a machine": (await client.post("/api/old/hook", content=b"{}"), 201),
        }
        for what, (response, status) in results.items():
            assert (response.status_code, deprecation_headers_of(response)) == (status, expected), what
        assert results["repeated"][0].headers["x-cache-lookup"] == "HIT"
        limited = [await client.post("/api/old/login", json={"email": "a@b.example"}) for _ in range(10)][-1]
        assert (limited.status_code, deprecation_headers_of(limited)) == (429, expected)
        assert deprecation_headers_of(await client.get("/api/new")) == (None, None, None)
        assert deprecation_headers_of(await client.get("/nowhere")) == (None, None, None)


class After:
    """A clock past the sunset."""

    @staticmethod
    def now() -> Any:
        return SUNSET


async def test_after_its_sunset_a_route_does_not_exist(app: GatewayApp) -> None:
    edge = replace(app.dependencies.edge, routes=RouteTable(OLD_ROUTES), page_cache=None, clock=After())
    async with (
        edge_served(edge) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        for removed in (await client.get("/api/old"), await client.post("/api/old/login", json={})):
            assert (removed.status_code, problem_of(removed)["code"]) == (404, "RESOURCE_NOT_FOUND")
            assert deprecation_headers_of(removed) == (None, None, None)
        assert (await client.get("/api/new")).status_code == 201


# A response that is too long to be stored


async def test_a_response_too_long_to_store_reaches_its_client_and_repeats_no_effect(
    app: GatewayApp,
) -> None:
    app.upstream.response = (201, {"text": "x" * (2 * STORED_BYTES_MAX)})
    headers = app.bearer(new_id()) | {"Idempotency-Key": str(uuid4())}
    first = await app.client.post("/api/orders/checkout", json={}, headers=headers)
    assert (first.status_code, len(first.json()["text"])) == (201, 2 * STORED_BYTES_MAX)
    assert first.headers["x-number"] == "1"
    again = await app.client.post("/api/orders/checkout", json={}, headers=headers)
    assert (again.status_code, problem_of(again)["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert "is done" in again.json()["detail"]
    assert "x-cache-lookup" not in again.headers
    assert (await app.client.post("/api/orders/checkout", json={"other": 1}, headers=headers)).status_code == 422
    assert len(app.upstream.seen) == 1


async def test_a_long_error_that_is_not_stored_frees_the_key(app: GatewayApp) -> None:
    app.upstream.response = (409, {"text": "x" * (2 * STORED_BYTES_MAX)})
    headers = app.bearer(new_id()) | {"Idempotency-Key": str(uuid4())}
    assert (await app.client.post("/api/orders/checkout", json={}, headers=headers)).status_code == 409
    app.upstream.response = (201, {})
    assert (await app.client.post("/api/orders/checkout", json={}, headers=headers)).status_code == 201


# More requests than get a response in time


async def test_overload_rejects_users_but_neither_machines_nor_health(open_gateway: OpenGateway) -> None:
    app = await open_gateway(requests_in_flight_max=8)
    app.upstream.gate.clear()
    waiting = [asyncio.create_task(app.client.get("/api/orders", headers=app.bearer())) for _ in range(8)]
    await eventually(lambda: len(app.upstream.seen) == 8)
    shed = [await app.client.get("/api/orders", headers=app.bearer()) for _ in range(3)]
    for response in shed:
        assert (response.status_code, problem_of(response)["code"]) == (503, "INTERNAL_ERROR")
        assert int(response.headers["retry-after"]) >= 1
    assert (await app.client.get("/health/liveness")).status_code == 200
    explained = [asyncio.create_task(app.client.post("/functions/v1/gateway-webhook", content=b"{}")) for _ in range(2)]
    await eventually(lambda: len(app.upstream.seen) == 10)
    assert (await app.client.post("/functions/v1/gateway-webhook", content=b"{}")).status_code == 503
    metrics = app.dependencies.edge.metrics
    assert dict(metrics.shed) == {"people": 3, "machines": 1}
    assert metrics.in_flight() == 10
    app.upstream.gate.set()
    assert [(await one).status_code for one in (*waiting, *explained)] == [201] * 10
    assert (await app.client.get("/api/orders", headers=app.bearer())).status_code == 201
    assert await eventually(lambda: metrics.in_flight() == 0)


async def test_slow_responses_lower_the_limit_of_users_until_they_are_fast_again(open_gateway: OpenGateway) -> None:
    app = await open_gateway(requests_in_flight_max=8)
    load = app.dependencies.edge.load
    for _ in range(100):
        load.record(3 * SLOW_SECONDS)
    app.upstream.gate.clear()
    waiting = asyncio.create_task(app.client.get("/api/orders", headers=app.bearer()))
    await eventually(lambda: app.upstream.seen)
    shed = await app.client.get("/api/orders", headers=app.bearer())
    assert (shed.status_code, int(shed.headers["retry-after"]) >= 1) == (503, True)
    webhook = asyncio.create_task(app.client.post("/functions/v1/gateway-webhook", content=b"{}"))
    await eventually(lambda: len(app.upstream.seen) == 2)
    app.upstream.gate.set()
    assert [(await one).status_code for one in (waiting, webhook)] == [201, 201]
    # Requests that are served one by one are fast, and raise the limit again; a rejection does not.
    for _ in range(100):
        assert (await app.client.get("/api/orders", headers=app.bearer())).status_code == 201
    app.upstream.gate.clear()
    waiting_again = [asyncio.create_task(app.client.get("/api/orders", headers=app.bearer())) for _ in range(8)]
    await eventually(lambda: load.running == 8)
    assert app.dependencies.edge.metrics.shed["people"] == 1
    app.upstream.gate.set()
    assert {(await one).status_code for one in waiting_again} == {201}


async def test_a_request_rejected_by_overload_uses_neither_quota_nor_key(open_gateway: OpenGateway) -> None:
    app = await open_gateway(requests_in_flight_max=1)
    user = app.bearer(new_id())
    key = {"Idempotency-Key": str(uuid4())}
    app.upstream.gate.clear()
    first = asyncio.create_task(app.client.get("/api/orders", headers=app.bearer()))
    await eventually(lambda: app.upstream.seen)
    assert (await app.client.post("/api/orders/checkout", json={}, headers=user | key)).status_code == 503
    app.upstream.gate.set()
    await first
    done = await app.client.post("/api/orders/checkout", json={}, headers=user | key)
    assert (done.status_code, done.headers["ratelimit-remaining"]) == (201, "299")
    assert "x-cache-lookup" not in done.headers


async def test_an_open_stream_does_not_count_as_a_request_in_progress(open_gateway: OpenGateway) -> None:
    app = await open_gateway(requests_in_flight_max=1)
    reader = app.bearer()
    async with app.client.stream("GET", "/api/notification-delivery-logs", headers=reader) as stream:
        events = stream.aiter_lines()
        assert await anext(events) == "event: token"
        assert app.dependencies.edge.metrics.in_flight() == 0
        assert (await app.client.get("/api/orders", headers=reader)).status_code == 201
        app.upstream.tick.set()
        assert [line async for line in events][-2] == "data: last"
    assert await eventually(lambda: app.dependencies.edge.metrics.in_flight() == 0)
