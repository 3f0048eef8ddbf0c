"""The gateway forwards requests and responses."""

import asyncio
import socket
from uuid import uuid4

import httpx
import pytest

from common.primitives.ids import new_id
from testkit.fixtures import eventually

from .conftest import GatewayApp, OpenGateway, problem_of


async def test_a_request_reaches_its_service_and_its_response_the_client(app: GatewayApp) -> None:
    app.upstream.response = (200, {"success": True, "data": 1})
    response = await app.client.get("/api/orders?limit=5&q=a%20b", headers=app.bearer())
    assert (response.status_code, response.json()) == (200, {"success": True, "data": 1})
    assert response.headers["x-number"] == "1"
    seen = app.upstream.last
    assert (seen["method"], seen["path"], seen["query"]) == ("GET", "/api/orders", "limit=5&q=a%20b")


async def test_every_response_has_the_headers_of_the_contract_and_no_trace_of_the_server(app: GatewayApp) -> None:
    for path in ("/api/products", "/health/liveness", "/docs", "/.well-known/jwks.json", "/openapi.json", "/nowhere"):
        response = await app.client.get(path)
        for name in ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "x-request-id", "api-version"):
            assert name in response.headers, (path, name)
            assert len(response.headers.get_list(name)) == 1, (path, name)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "server" not in response.headers
        assert len(response.headers.get_list("date")) == 1


async def test_the_version_prefix_is_the_same_route(app: GatewayApp) -> None:
    await app.client.get("/api/v1/products")
    assert app.upstream.last["path"] == "/api/products"


async def test_a_service_receives_the_prefix_of_the_client(app: GatewayApp) -> None:
    await app.client.get("/api/v1/orders", headers=app.bearer())
    assert app.upstream.last["headers"]["x-api-version"] == "v1"
    await app.client.get("/api/orders", headers=app.bearer() | {"X-Api-Version": "v1"})
    assert "x-api-version" not in app.upstream.last["headers"]


async def test_only_the_gateway_names_the_address_of_a_sign_in(open_gateway: OpenGateway) -> None:
    app = await open_gateway(trusted_proxies="127.0.0.0/8")
    forged = {"X-Client-Address": "192.0.2.99"}
    for address, named in (("203.0.113.5", "203.0.113.5"), ("2001:db8::7", "2001:db8::/64")):
        headers = forged | {"X-Forwarded-For": address}
        await app.client.post("/api/auth/otp", json={"email": "ada@x.example"}, headers=headers)
        assert app.upstream.last["headers"]["x-client-address"] == named
    await app.client.get("/api/orders", headers=app.bearer() | forged)
    assert "x-client-address" not in app.upstream.last["headers"]


async def test_no_identity_header_of_a_client_reaches_a_service(app: GatewayApp) -> None:
    forged = {
        "X-User-Id": "forged",
        "X-Role": "forged",
        "X-Vendor-Id": "forged",
        "X-Campus-Id": "forged",
        "X-Forwarded-For": "203.0.113.1",
        "X-Real-IP": "forged",
        "Forwarded": "for=forged",
        "X-Internal-Caller": "forged",
        "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "X-Request-Id": "forged",
        "Keep-Alive": "forged",
    }
    token = app.bearer()
    response = await app.client.get("/api/orders", headers=token | forged)
    seen = app.upstream.last["headers"]
    assert set(seen) == {"host", "accept", "user-agent", "authorization", "x-request-id", "traceparent"}
    assert seen["traceparent"] != forged["Traceparent"]
    assert seen["authorization"] == token["Authorization"]
    assert seen["x-request-id"] == response.headers["x-request-id"] != "forged"


async def test_a_request_id_of_the_right_form_is_stored(app: GatewayApp) -> None:
    own = "req_" + "A1" * 10
    response = await app.client.get("/api/products", headers={"X-Request-Id": own})
    assert response.headers["x-request-id"] == own == app.upstream.last["headers"]["x-request-id"]


async def test_of_two_tokens_in_one_request_none_is_believed(app: GatewayApp) -> None:
    good, other = app.bearer()["Authorization"], app.bearer()["Authorization"]
    pairs = [("Authorization", other), ("Authorization", good)]
    response = await app.client.get("/api/orders", headers=pairs)
    assert (response.status_code, problem_of(response)["code"]) == (401, "AUTH_UNAUTHORIZED")
    assert app.upstream.seen == []


async def test_a_stale_token_does_not_prevent_signing_in(app: GatewayApp) -> None:
    response = await app.client.post(
        "/api/auth/login", json={"email": "a@b.example"}, headers={"Authorization": "Bearer stale"}
    )
    assert response.status_code == 201
    assert "authorization" not in app.upstream.last["headers"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/auth/oidc/school/start"),
        ("GET", "/api/auth/oidc/school/callback"),
        ("POST", "/api/auth/oidc/exchange"),
    ],
)
async def test_a_stale_token_does_not_prevent_a_sign_in_by_a_provider(app: GatewayApp, method: str, path: str) -> None:
    response = await app.client.request(method, path, headers={"Authorization": "Bearer stale"})
    assert response.status_code == 201
    assert "authorization" not in app.upstream.last["headers"]


async def test_private_responses_are_not_stored_and_public_ones_keep_their_own_rule(app: GatewayApp) -> None:
    app.upstream.headers = {"Cache-Control": "public, max-age=5"}
    public = await app.client.get("/api/products")
    private = await app.client.get("/api/products", headers=app.bearer())
    assert public.headers.get_list("cache-control") == ["public, max-age=5"]
    assert private.headers.get_list("cache-control") == ["no-store"]


async def test_head_is_get_without_a_body(app: GatewayApp) -> None:
    response = await app.client.head("/api/products")
    assert (response.status_code, response.content) == (201, b"")
    assert app.upstream.last["method"] == "GET"


async def test_the_bytes_of_a_webhook_arrive_untouched_with_and_without_a_length(app: GatewayApp) -> None:
    body = b'{"event" : "charge.success",\r\n "x": "\xc3\xa9\xff"}' * 9_000

    async def pieces() -> object:
        for start in range(0, len(body), 50_000):
            yield body[start : start + 50_000]

    signature = {"X-Gateway-Signature": "ab" * 64}
    for content in (body, pieces(), b"{}"):
        response = await app.client.post("/functions/v1/gateway-webhook", content=content, headers=signature)
        assert response.status_code == 201
        assert app.upstream.last["headers"]["x-gateway-signature"] == "ab" * 64
    assert [seen["body"] for seen in app.upstream.seen] == [body, body, b"{}"]


async def test_a_setting_names_the_header_of_the_payment_gateways_signature(open_gateway: OpenGateway) -> None:
    both = {"X-Paystack-Signature": "ab", "X-Gateway-Signature": "cd"}
    app = await open_gateway(gateway_signature_header="x-paystack-signature")
    await app.client.post("/functions/v1/gateway-webhook", content=b"{}", headers=both)
    assert app.upstream.last["headers"]["x-paystack-signature"] == "ab"
    assert "x-gateway-signature" not in app.upstream.last["headers"]


async def test_both_signatures_of_the_second_gateway_arrive(app: GatewayApp) -> None:
    signatures = {"Verif-Hash": "secret-hash", "Flutterwave-Signature": "c2lnbmF0dXJl"}
    response = await app.client.post("/api/webhooks/flutterwave", content=b"{}", headers=signatures)
    assert response.status_code == 201
    arrived = app.upstream.last["headers"]
    assert (arrived["verif-hash"], arrived["flutterwave-signature"]) == ("secret-hash", "c2lnbmF0dXJl")


async def test_events_are_passed_on_as_they_come(app: GatewayApp) -> None:
    async with app.client.stream("GET", "/api/notification-delivery-logs", headers=app.bearer()) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = response.aiter_text()
        assert "first" in await anext(events)
        assert not app.upstream.tick.is_set()
        app.upstream.tick.set()
        assert "last" in await anext(events)


async def test_a_client_that_closes_a_stream_ends_it_at_the_service(app: GatewayApp) -> None:
    async with app.client.stream("GET", "/api/notification-delivery-logs", headers=app.bearer()) as response:
        await anext(response.aiter_text())
    assert await eventually(lambda: app.upstream.left == 1)


async def test_a_large_response_passes_whole_to_a_slow_reader(app: GatewayApp) -> None:
    app.upstream.response = (200, {"text": "x" * 6_000_000})
    async with app.client.stream("GET", "/api/orders", headers=app.bearer()) as response:
        size = 0
        async for piece in response.aiter_raw(64 * 1024):
            size += len(piece)
            await asyncio.sleep(0)
    assert size > 6_000_000


async def test_an_unavailable_service_is_503_with_retry_after(open_gateway: OpenGateway) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        app = await open_gateway(upstream_url=f"http://127.0.0.1:{unused.getsockname()[1]}")
        response = await app.client.get("/api/products")
    assert response.status_code == 503
    problem = problem_of(response)
    assert problem["code"] == "INTERNAL_ERROR"
    assert problem["correlationId"] == response.headers["x-request-id"]
    assert int(response.headers["retry-after"]) >= 1


async def test_an_error_that_a_server_gave_without_a_document_gets_one(app: GatewayApp) -> None:
    app.upstream.plain = "Internal Server Error at 10.0.0.7"
    for status in (500, 503, 400, 413):
        app.upstream.response = (status, None)
        response = await app.client.get("/api/products")
        assert response.status_code == status
        assert "10.0.0.7" not in problem_of(response)["detail"]


async def test_the_bare_error_of_a_webhook_stays_bare(app: GatewayApp) -> None:
    app.upstream.response = (401, {"error": "Invalid signature"})
    response = await app.client.post("/functions/v1/gateway-webhook", content=b"{}")
    assert (response.status_code, response.json()) == (401, {"error": "Invalid signature"})


async def test_a_connection_that_the_service_closed_meanwhile_is_not_noticed_by_a_reader(app: GatewayApp) -> None:
    """The service responds once on each connection and then closes it without notice."""
    responses = 0

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal responses
        await reader.readuntil(b"\r\n\r\n")
        responses += 1
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()
        # The second request on this connection is read and gets no response.
        await reader.read(1)
        writer.transport.abort()

    server = await asyncio.start_server(once, "127.0.0.1", 0)
    upstream = app.dependencies.edge.forwarder._upstreams["orders"]
    upstream._port = server.sockets[0].getsockname()[1]
    for _ in range(3):
        assert (await app.client.get("/api/products", headers=app.bearer())).status_code == 200
    assert responses == 3
    posted = await app.client.post(f"/api/orders/{new_id()}/cancel", json={}, headers=app.bearer())
    assert posted.status_code == 503, "a POST is never sent twice"
    server.close()


@pytest.mark.parametrize(
    "broken", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", b"HTTP/1.1 200 OK\r\n"]
)
async def test_a_service_that_breaks_off_is_an_error_and_never_a_short_response(app: GatewayApp, broken: bytes) -> None:
    async def respond_badly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(broken)
        writer.close()

    server = await asyncio.start_server(respond_badly, "127.0.0.1", 0)
    app.dependencies.edge.forwarder._upstreams["orders"]._port = server.sockets[0].getsockname()[1]
    try:
        assert (await app.client.get("/api/products")).status_code == 503
    except httpx.RemoteProtocolError:
        assert broken.endswith(b"short"), "only an answer that had begun is broken off"
    server.close()


async def test_a_slow_request_of_a_client_that_left_is_given_up(app: GatewayApp) -> None:
    app.upstream.gate.clear()
    with pytest.raises(httpx.ReadTimeout):
        await app.client.get("/api/orders", headers=app.bearer(), timeout=0.1)
    upstream = app.dependencies.edge.forwarder._upstreams["orders"]
    assert await eventually(lambda: not upstream._busy)
    app.upstream.gate.set()


async def test_beyond_the_connections_requests_wait_for_one_and_all_are_served(open_gateway: OpenGateway) -> None:
    app = await open_gateway(upstream_connections_max=3)
    results = await asyncio.gather(*(app.client.get("/api/products", headers=app.bearer()) for _ in range(40)))
    assert [response.status_code for response in results] == [201] * 40
    upstream = app.dependencies.edge.forwarder._upstreams["orders"]
    assert len(upstream._idle) <= 3
    assert not upstream._busy


async def test_a_page_of_an_allowed_origin_may_call_and_another_may_not(open_gateway: OpenGateway) -> None:
    app = await open_gateway(allowed_origins="https://shop.example, https://admin.example/")
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "idempotency-key"}
    allowed = await app.client.options("/api/orders/checkout", headers=preflight | {"Origin": "https://shop.example"})
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == "https://shop.example"
    assert allowed.headers["access-control-allow-methods"] == "POST"
    assert "Idempotency-Key" in allowed.headers["access-control-allow-headers"]
    foreign = await app.client.options("/api/orders/checkout", headers=preflight | {"Origin": "https://evil.example"})
    assert foreign.status_code == 405
    assert "access-control-allow-origin" not in foreign.headers
    read = await app.client.get("/api/products", headers={"Origin": "https://admin.example"})
    assert read.headers["access-control-allow-origin"] == "https://admin.example"
    assert "Origin" in read.headers.get_list("vary")
    assert "RateLimit-Remaining" in read.headers["access-control-expose-headers"]


async def test_ids_of_any_case_reach_the_service(app: GatewayApp) -> None:
    order = str(uuid4()).upper()
    await app.client.get(f"/api/orders/{order}", headers=app.bearer())
    assert app.upstream.last["path"] == f"/api/orders/{order}"


STREAM = "/api/notification-delivery-logs"


async def test_streams_keep_connections_free_for_short_responses(open_gateway: OpenGateway) -> None:
    app = await open_gateway(upstream_connections_max=1)
    bearer = app.bearer()
    async with (
        app.client.stream("GET", STREAM, headers=bearer) as one,
        app.client.stream("GET", STREAM, headers=bearer) as other,
    ):
        assert await anext(one.aiter_bytes()) == await anext(other.aiter_bytes()) == b"event: token\ndata: first\n\n"
        assert (await app.client.get("/api/alerts", headers=bearer)).status_code == 201


async def test_a_gateway_that_stops_ends_its_streams_whole_and_opens_no_more(app: GatewayApp) -> None:
    async with app.client.stream("GET", STREAM, headers=app.bearer()) as response:
        pieces = response.aiter_bytes()
        assert await anext(pieces) == b"event: token\ndata: first\n\n"
        for end in app.runtime.on_stop:
            end()
        assert [piece async for piece in pieces] == []
    assert await eventually(lambda: app.upstream.left == 1)
    assert (await app.client.get(STREAM, headers=app.bearer())).status_code == 503


async def test_the_head_of_a_stream_is_served_without_it(app: GatewayApp) -> None:
    response = await app.client.head(STREAM, headers=app.bearer())
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert await eventually(lambda: app.upstream.left == 1)
