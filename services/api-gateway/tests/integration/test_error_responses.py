"""The gateway rejects these requests itself; none of them reaches a service."""

import asyncio
import json
from datetime import timedelta

import httpx
import pytest

from common.primitives.clock import SystemClock
from common.primitives.ids import new_id

from .conftest import GatewayApp, problem_of

CHECKOUT = "/api/orders/checkout"


async def raw(app: GatewayApp, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", app.port)
    writer.write(request)
    response = await asyncio.wait_for(reader.readuntil(b"}"), 60)
    writer.close()
    await writer.wait_closed()
    return response


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "RESOURCE_NOT_FOUND"),
        ("GET", "/metrics", 404, "RESOURCE_NOT_FOUND"),
        ("GET", "/api/orders/not-a-uuid", 404, "RESOURCE_NOT_FOUND"),
        ("GET", "/api/orders/%2e%2e/products", 404, "RESOURCE_NOT_FOUND"),
        ("GET", CHECKOUT, 405, "VALIDATION_FAILED"),
        ("DELETE", "/api/products", 405, "VALIDATION_FAILED"),
        ("POST", "/health/liveness", 405, "VALIDATION_FAILED"),
        ("OPTIONS", "/api/products", 405, "VALIDATION_FAILED"),
        ("GET", "/api/orders", 401, "AUTH_UNAUTHORIZED"),
        ("POST", CHECKOUT, 401, "AUTH_UNAUTHORIZED"),
    ],
)
async def test_errors_are_problem_documents(app: GatewayApp, method: str, path: str, status: int, code: str) -> None:
    response = await app.client.request(method, path)
    assert response.status_code == status
    assert problem_of(response)["code"] == code
    assert problem_of(response)["instance"]
    assert ("allow" in response.headers) == (status == 405)
    assert not app.upstream.seen


async def test_allow_lists_the_methods_of_the_path(app: GatewayApp) -> None:
    assert (await app.client.get(CHECKOUT)).headers["allow"] == "POST"
    assert (await app.client.delete("/api/payouts")).headers["allow"] == "GET, HEAD, POST"


async def test_only_a_good_token_past_its_time_is_called_expired(app: GatewayApp) -> None:
    user, expired = new_id(), int((app.issuer.clock.now() - timedelta(minutes=5)).timestamp())
    tokens = {
        "AUTH_TOKEN_EXPIRED": [app.issuer.token(user, exp=expired)],
        "AUTH_UNAUTHORIZED": [
            "nonsense",
            app.issuer.token(user)[:-4] + "AAAA",
            app.issuer.token(user, iss="http://elsewhere"),
            app.issuer.token(user, aud="another"),
            app.issuer.token(user, exp=expired)[:-4] + "AAAA",
        ],
    }
    for code, offered in tokens.items():
        for token in offered:
            response = await app.client.get("/api/orders", headers={"Authorization": f"Bearer {token}"})
            assert (response.status_code, problem_of(response)["code"]) == (401, code)
            assert response.headers["www-authenticate"].startswith("Bearer")
    for header in ("", "Basic abc", "Bearer", "Bearer a b"):
        response = await app.client.get("/api/orders", headers={"Authorization": header})
        assert problem_of(response)["code"] == "AUTH_UNAUTHORIZED"
    assert not app.upstream.seen


async def test_a_bad_token_is_rejected_even_where_none_is_needed(app: GatewayApp) -> None:
    assert (await app.client.get("/api/products", headers={"Authorization": "Bearer nonsense"})).status_code == 401


async def test_a_revoked_session_is_rejected(app: GatewayApp) -> None:
    user, session = new_id(), new_id()
    headers = app.bearer(user, session_id=str(session))
    assert (await app.client.get("/api/orders", headers=headers)).status_code == 201
    app.runtime.verifier.revocations.add(user, session, SystemClock().now())
    response = await app.client.get("/api/orders", headers=headers)
    assert problem_of(response)["code"] == "AUTH_UNAUTHORIZED"


@pytest.mark.parametrize(
    ("path", "limit"), [(CHECKOUT, 256 * 1024), ("/functions/v1/gateway-webhook", 1024 * 1024)], ids=["json", "webhook"]
)
@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_its_limit_is_413_and_at_its_limit_passes(
    app: GatewayApp, path: str, limit: int, announced: bool
) -> None:
    async def pieces(size: int) -> object:
        for start in range(0, size, 40_000):
            yield b"x" * min(40_000, size - start)

    headers = app.bearer() | {"Content-Type": "application/json", "Idempotency-Key": str(_key())}
    for size, status in ((limit + 1, 413), (limit, 201)):
        content = b"x" * size if announced else pieces(size)
        response = await app.client.post(path, content=content, headers=headers)
        assert response.status_code == status
        if status == 413:
            assert problem_of(response)["code"] == "VALIDATION_FAILED"
    assert len(app.upstream.last["body"]) == limit
    assert len(app.upstream.seen) == 1


async def test_media_types_other_than_json_and_compressed_bodies_are_415(app: GatewayApp) -> None:
    key = {"Idempotency-Key": str(_key())}
    for headers in (
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ):
        response = await app.client.post(CHECKOUT, content=b"{}", headers=app.bearer() | key | headers)
        assert (response.status_code, problem_of(response)["code"]) == (415, "VALIDATION_FAILED")
    compressed = await app.client.post(
        "/functions/v1/gateway-webhook", content=b"{}", headers={"Content-Encoding": "br"}
    )
    assert compressed.status_code == 415
    assert not app.upstream.seen
    with_charset = {"Content-Type": "application/json; charset=utf-8"}
    assert (
        await app.client.post(CHECKOUT, content=b"{}", headers=app.bearer() | key | with_charset)
    ).status_code == 201


async def test_long_headers_are_431_and_long_urls_414(app: GatewayApp) -> None:
    long_header = await app.client.get("/api/products", headers={"X-Long": "x" * 17_000})
    assert (long_header.status_code, problem_of(long_header)["code"]) == (431, "VALIDATION_FAILED")
    many = await app.client.get("/api/products", headers={f"X-{number}": "x" * 100 for number in range(200)})
    assert many.status_code == 431
    long_url = await app.client.get("/api/products?q=" + "x" * 9_000)
    assert (long_url.status_code, problem_of(long_url)["code"]) == (414, "VALIDATION_FAILED")
    assert not app.upstream.seen
    assert (await app.client.get("/api/products?q=" + "x" * 8_000, headers={"X-Long": "x" * 15_000})).status_code == 201


async def test_a_head_that_never_ends_is_cut_off(app: GatewayApp) -> None:
    response = await raw(app, b"GET /api/products HTTP/1.1\r\nx-long: " + b"x" * 600_000)
    assert response.startswith(b"HTTP/1.1 431 ")
    assert b"application/problem+json" in response


@pytest.mark.parametrize(
    "request_bytes",
    [b"NONSENSE\r\n\r\n", b"GET /api/products HTTP/1.1\r\nbad header\r\n\r\n", b"GET \x01 HTTP/1.1\r\n\r\n"],
)
async def test_what_is_no_http_is_a_problem_too(app: GatewayApp, request_bytes: bytes) -> None:
    response = await raw(app, request_bytes)
    assert response.startswith(b"HTTP/1.1 400 ")
    for name in (b"ratelimit-limit", b"x-request-id", b"api-version", b"application/problem+json", b"no-store"):
        assert name in response


LONG = "x" * 9_000


@pytest.mark.parametrize(
    ("status", "request_bytes", "instance"),
    [
        (414, f"GET /api/products?q={LONG} HTTP/1.1\r\nhost: x\r\n\r\n", "/api/products"),
        (414, f"GET http://x/api/products?q={LONG} HTTP/1.1\r\nhost: x\r\n\r\n", "/api/products"),
        (414, f"GET /api/products#{LONG} HTTP/1.1\r\nhost: x\r\n\r\n", "/api/products"),
        (414, f"GET /api/{LONG} HTTP/1.1\r\nhost: x\r\n\r\n", f"/api/{LONG}"[:512]),
        (414, f"GET /api/{'%41' * 3_000} HTTP/1.1\r\nhost: x\r\n\r\n", f"/api/{'%41' * 169}"),
        (414, f"GET /api/products?q={LONG * 20} HTTP/1.1\r\nhost: x\r\n\r\n", "/api/products"),
        (431, f"GET /api/products?q=1 HTTP/1.1\r\nhost: x\r\nx-long: {LONG}{LONG}\r\n\r\n", "/api/products"),
        (431, f"GET /api/products?q=1 HTTP/1.1\r\nx-long: {LONG * 60}", "/api/products"),
        (400, "GET /api/products?q=1 HTTP/1.1\r\nbad header\r\n\r\n", "/api/products"),
        (400, "GET /api/products?q=1 HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n", "/api/products"),
        (400, "GET /api/\u00e9 HTTP/1.1\r\nhost: x\r\n\r\n", "/"),
        (400, "NONSENSE\r\n\r\n", "/"),
        (404, "GET /api/a%20b/%C3%A9?q=1 HTTP/1.1\r\nhost: x\r\n\r\n", "/api/a%20b/%C3%A9"),
        (404, f"GET /api/{LONG[:7_000]}?q=1 HTTP/1.1\r\nhost: x\r\n\r\n", f"/api/{LONG}"[:512]),
        (
            413,
            "POST /api/auth/login?q=1 HTTP/1.1\r\nhost: x\r\ncontent-length: 999999\r\n"
            "content-type: application/json\r\n\r\n",
            "/api/auth/login",
        ),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
async def test_the_instance_of_a_error_is_its_path_as_it_was_sent_and_bounded(
    app: GatewayApp, status: int, request_bytes: str, instance: str
) -> None:
    response = await raw(app, request_bytes.encode())
    assert response.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(response.partition(b"\r\n\r\n")[2])["instance"] == instance


async def test_smuggled_framing_is_rejected(app: GatewayApp) -> None:
    response = await raw(
        app,
        b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    )
    assert response.startswith(b"HTTP/1.1 400 ")
    assert not app.upstream.seen


async def test_a_body_of_a_get_never_reaches_a_service_as_a_request_of_its_own(app: GatewayApp) -> None:
    hidden = b"GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n"
    reader = app.bearer()
    request = httpx.Request("GET", f"{app.url}/api/products", content=hidden, headers=reader)
    assert (await app.client.send(request)).status_code == 201
    assert (await app.client.get("/api/products", headers=reader)).status_code == 201
    assert [seen["path"] for seen in app.upstream.seen] == ["/api/products"] * 2


def _key() -> object:
    from uuid import uuid4

    return uuid4()
