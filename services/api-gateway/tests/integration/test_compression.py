"""Responses of the catalog and documents are compressed for clients that accept it; no other response is."""

import gzip
import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from api_gateway.forwarding import STORED_BYTES_MAX

from .conftest import GatewayApp

PRODUCT = UUID("018cc251-f400-7005-8000-000000000001")
LONG = [{"name": "Suya", "number": number} for number in range(200)]
SHORT = [{"name": "Suya"}]
GZIP = {"Accept-Encoding": "gzip"}


def envelope(data: Any) -> dict[str, Any]:
    meta = {"timestamp": "2026-01-01T00:00:00.000Z", "version": "v1", "requestId": "req_oftheservice0001"}
    return {"success": True, "data": data, "meta": meta}


def serve(app: GatewayApp, data: Any, *, public: bool = True, etag: str = 'W/"first"') -> None:
    app.upstream.response = (200, envelope(data))
    app.upstream.headers = {"ETag": etag} | ({"Cache-Control": "public, no-cache"} if public else {})


async def fetched(app: GatewayApp, path: str, method: str = "GET", **headers: str) -> tuple[httpx.Response, bytes]:
    """Return the response and its body as sent."""
    async with app.client.stream(method, path, headers={"Accept-Encoding": "identity", **headers}) as response:
        return response, b"".join([chunk async for chunk in response.aiter_raw()])


def varies_by_coding(response: httpx.Response) -> bool:
    return "accept-encoding" in response.headers.get("vary", "").lower()


async def test_a_shared_page_is_compressed_once_and_each_reader_has_their_own_response(app: GatewayApp) -> None:
    serve(app, LONG)
    plain, body = await fetched(app, "/api/products")
    assert (plain.headers.get("content-encoding"), json.loads(body)["data"]) == (None, LONG)
    ids = set()
    for _ in range(2):
        response, compressed = await fetched(app, "/api/products", **GZIP)
        assert response.headers["content-encoding"] == "gzip"
        assert int(response.headers["content-length"]) == len(compressed) < len(body) / 3
        whole = json.loads(gzip.decompress(compressed))
        assert (whole["data"], whole["meta"]["requestId"]) == (LONG, response.headers["x-request-id"])
        ids.add(whole["meta"]["requestId"])
    assert len(ids) == 2
    assert len(app.upstream.seen) == 1


@pytest.mark.parametrize("path", ["/api/products", f"/api/products/{PRODUCT}", "/api/vendors", "/api/campuses"])
async def test_a_signed_in_reader_s_catalog_is_compressed_too(app: GatewayApp, path: str) -> None:
    serve(app, LONG, public=False)
    response, compressed = await fetched(app, path, **GZIP, **app.bearer())
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["cache-control"] == "no-store"
    assert json.loads(gzip.decompress(compressed))["data"] == LONG


@pytest.mark.parametrize("signed_in", [False, True])
async def test_every_form_of_a_page_varies_and_shares_one_weak_etag(app: GatewayApp, signed_in: bool) -> None:
    serve(app, LONG, etag='"3"')
    caller = app.bearer() if signed_in else {}
    for coding in ("identity", "gzip"):
        response, _ = await fetched(app, "/api/products", **caller, **{"Accept-Encoding": coding})
        assert varies_by_coding(response)
        assert response.headers["etag"] == 'W/"3"'


async def test_a_client_with_a_form_of_the_page_gets_304(app: GatewayApp) -> None:
    serve(app, LONG)
    response, body = await fetched(app, "/api/products", **GZIP, **{"If-None-Match": 'W/"first"'})
    assert (response.status_code, body) == (304, b"")
    assert "content-encoding" not in response.headers
    assert varies_by_coding(response)


@pytest.mark.parametrize(
    ("accepted", "is_compressed"), [("gzip;q=0", False), ("identity;q=0, gzip", True), ("identity, gzip;q=0.5", False)]
)
@pytest.mark.parametrize("path", ["/api/products", "/api/vendors", "/openapi.json"])
async def test_the_client_s_weights_decide_on_every_way(
    app: GatewayApp, path: str, accepted: str, is_compressed: bool
) -> None:
    serve(app, LONG)
    response, _ = await fetched(app, path, **{"Accept-Encoding": accepted})
    assert (response.headers.get("content-encoding") == "gzip") is is_compressed


@pytest.mark.parametrize("path", ["/api/products", "/api/vendors"])
async def test_a_short_response_is_compressed_only_for_who_rejects_the_plain_one(app: GatewayApp, path: str) -> None:
    serve(app, SHORT)
    plain, body = await fetched(app, path, **GZIP)
    assert ("content-encoding" in plain.headers, json.loads(body)["data"]) == (False, SHORT)
    compressed, body = await fetched(app, path, **{"Accept-Encoding": "gzip, identity;q=0"})
    assert (compressed.headers["content-encoding"], json.loads(gzip.decompress(body))["data"]) == ("gzip", SHORT)


@pytest.mark.parametrize("path", ["/api/vendors", "/openapi.json", "/docs"])
async def test_a_head_has_the_headers_of_its_get(app: GatewayApp, path: str) -> None:
    serve(app, LONG)
    get, _ = await fetched(app, path, **GZIP)
    head, body = await fetched(app, path, "HEAD", **GZIP)
    assert body == b""
    for name in ("content-encoding", "content-length", "vary", "etag", "content-type"):
        assert head.headers.get(name) == get.headers.get(name)


async def test_an_response_too_long_for_memory_comes_plain_and_whole(app: GatewayApp) -> None:
    long = ["x" * 1_000] * (STORED_BYTES_MAX // 1_000 + 100)
    serve(app, long)
    response, body = await fetched(app, "/api/vendors", **GZIP)
    assert "content-encoding" not in response.headers
    assert json.loads(body)["data"] == long


@pytest.mark.parametrize(
    "path",
    [
        "/api/orders",
        f"/api/orders/{PRODUCT}/delivery-pin",
        "/api/profiles/current",
        "/api/auth/sessions",
        "/api/wallets/current",
        f"/media/{PRODUCT}",
        "/.well-known/jwks.json",
    ],
)
async def test_what_may_hold_a_secret_is_never_compressed(app: GatewayApp, path: str) -> None:
    serve(app, LONG)
    response, _ = await fetched(app, path, **app.bearer(), **{"Accept-Encoding": "gzip, identity;q=0"})
    assert response.status_code == 200
    assert "content-encoding" not in response.headers
    assert not varies_by_coding(response)


async def test_tokens_and_errors_are_never_compressed(app: GatewayApp) -> None:
    serve(app, LONG)
    request_headers = {"Accept-Encoding": "gzip, identity;q=0"}
    signed_in = await app.client.post("/api/auth/login", json={"email": "a@b.example"}, headers=request_headers)
    assert "content-encoding" not in signed_in.headers
    app.upstream.response = (422, {"invalid_params": LONG})
    app.upstream.headers = {"Content-Type": "application/problem+json"}
    for path in ("/api/products?limit=0", "/api/vendors?limit=0"):
        response, _ = await fetched(app, path, **request_headers)
        assert (response.status_code, "content-encoding" in response.headers) == (422, False)


@pytest.mark.parametrize(
    "path", ["/openapi.json", "/asyncapi.json", "/docs", "/events", "/lifecycles", "/errors/validation-failed"]
)
async def test_documents_are_compressed_and_tagged(app: GatewayApp, path: str) -> None:
    plain, body = await fetched(app, path)
    response, compressed = await fetched(app, path, **GZIP)
    assert varies_by_coding(plain)
    assert varies_by_coding(response)
    assert response.headers["etag"] == plain.headers["etag"]
    assert gzip.decompress(compressed) == body if "content-encoding" in response.headers else len(body) < 1_024
    again, nothing = await fetched(app, path, **GZIP, **{"If-None-Match": response.headers["etag"]})
    assert (again.status_code, nothing) == (304, b"")
