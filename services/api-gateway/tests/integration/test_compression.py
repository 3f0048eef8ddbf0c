"""Answers of the catalog and documents are compressed for clients that take it; everything else never is."""

import gzip
import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from api_gateway.forwarding import STORED_BYTES_MAX

from .conftest import Gateway

PRODUCT = UUID("018cc251-f400-7005-8000-000000000001")
LONG = [{"name": "Suya", "number": number} for number in range(200)]
SHORT = [{"name": "Suya"}]
GZIP = {"Accept-Encoding": "gzip"}


def envelope(data: Any) -> dict[str, Any]:
    meta = {"timestamp": "2026-01-01T00:00:00.000Z", "version": "v1", "requestId": "req_oftheservice0001"}
    return {"success": True, "data": data, "meta": meta}


def serve(gateway: Gateway, data: Any, *, public: bool = True, etag: str = 'W/"first"') -> None:
    gateway.upstream.response = (200, envelope(data))
    gateway.upstream.headers = {"ETag": etag} | ({"Cache-Control": "public, no-cache"} if public else {})


async def fetched(gateway: Gateway, path: str, method: str = "GET", **headers: str) -> tuple[httpx.Response, bytes]:
    """The answer and its body as it was sent."""
    async with gateway.client.stream(method, path, headers={"Accept-Encoding": "identity", **headers}) as response:
        return response, b"".join([chunk async for chunk in response.aiter_raw()])


def varies_by_coding(response: httpx.Response) -> bool:
    return "accept-encoding" in response.headers.get("vary", "").lower()


async def test_a_shared_page_is_compressed_once_and_each_reader_has_an_answer_of_their_own(gateway: Gateway) -> None:
    serve(gateway, LONG)
    plain, body = await fetched(gateway, "/api/products")
    assert (plain.headers.get("content-encoding"), json.loads(body)["data"]) == (None, LONG)
    ids = set()
    for _ in range(2):
        response, compressed = await fetched(gateway, "/api/products", **GZIP)
        assert response.headers["content-encoding"] == "gzip"
        assert int(response.headers["content-length"]) == len(compressed) < len(body) / 3
        whole = json.loads(gzip.decompress(compressed))
        assert (whole["data"], whole["meta"]["requestId"]) == (LONG, response.headers["x-request-id"])
        ids.add(whole["meta"]["requestId"])
    assert len(ids) == 2
    assert len(gateway.upstream.seen) == 1


@pytest.mark.parametrize("path", ["/api/products", f"/api/products/{PRODUCT}", "/api/vendors", "/api/campuses"])
async def test_a_signed_in_reader_s_catalog_is_compressed_too(gateway: Gateway, path: str) -> None:
    serve(gateway, LONG, public=False)
    response, compressed = await fetched(gateway, path, **GZIP, **gateway.bearer())
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["cache-control"] == "no-store"
    assert json.loads(gzip.decompress(compressed))["data"] == LONG


@pytest.mark.parametrize("signed_in", [False, True])
async def test_every_form_of_a_page_says_that_it_varies_and_shares_one_weak_tag(
    gateway: Gateway, signed_in: bool
) -> None:
    serve(gateway, LONG, etag='"3"')
    caller = gateway.bearer() if signed_in else {}
    for coding in ("identity", "gzip"):
        response, _ = await fetched(gateway, "/api/products", **caller, **{"Accept-Encoding": coding})
        assert varies_by_coding(response)
        assert response.headers["etag"] == 'W/"3"'


async def test_who_has_a_form_of_the_page_is_not_sent_another(gateway: Gateway) -> None:
    serve(gateway, LONG)
    response, body = await fetched(gateway, "/api/products", **GZIP, **{"If-None-Match": 'W/"first"'})
    assert (response.status_code, body) == (304, b"")
    assert "content-encoding" not in response.headers
    assert varies_by_coding(response)


@pytest.mark.parametrize(
    ("accepted", "is_compressed"), [("gzip;q=0", False), ("identity;q=0, gzip", True), ("identity, gzip;q=0.5", False)]
)
@pytest.mark.parametrize("path", ["/api/products", "/api/vendors", "/openapi.json"])
async def test_the_client_s_weights_decide_on_every_way(
    gateway: Gateway, path: str, accepted: str, is_compressed: bool
) -> None:
    serve(gateway, LONG)
    response, _ = await fetched(gateway, path, **{"Accept-Encoding": accepted})
    assert (response.headers.get("content-encoding") == "gzip") is is_compressed


@pytest.mark.parametrize("path", ["/api/products", "/api/vendors"])
async def test_a_short_answer_is_compressed_only_for_who_refuses_the_plain_one(gateway: Gateway, path: str) -> None:
    serve(gateway, SHORT)
    plain, body = await fetched(gateway, path, **GZIP)
    assert ("content-encoding" in plain.headers, json.loads(body)["data"]) == (False, SHORT)
    compressed, body = await fetched(gateway, path, **{"Accept-Encoding": "gzip, identity;q=0"})
    assert (compressed.headers["content-encoding"], json.loads(gzip.decompress(body))["data"]) == ("gzip", SHORT)


@pytest.mark.parametrize("path", ["/api/vendors", "/openapi.json", "/docs"])
async def test_a_head_has_the_headers_of_its_get(gateway: Gateway, path: str) -> None:
    serve(gateway, LONG)
    get, _ = await fetched(gateway, path, **GZIP)
    head, body = await fetched(gateway, path, "HEAD", **GZIP)
    assert body == b""
    for name in ("content-encoding", "content-length", "vary", "etag", "content-type"):
        assert head.headers.get(name) == get.headers.get(name)


async def test_an_answer_too_long_for_memory_comes_plain_and_whole(gateway: Gateway) -> None:
    long = ["x" * 1_000] * (STORED_BYTES_MAX // 1_000 + 100)
    serve(gateway, long)
    response, body = await fetched(gateway, "/api/vendors", **GZIP)
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
async def test_what_may_hold_a_secret_is_never_compressed(gateway: Gateway, path: str) -> None:
    serve(gateway, LONG)
    response, _ = await fetched(gateway, path, **gateway.bearer(), **{"Accept-Encoding": "gzip, identity;q=0"})
    assert response.status_code == 200
    assert "content-encoding" not in response.headers
    assert not varies_by_coding(response)


async def test_tokens_and_refusals_are_never_compressed(gateway: Gateway) -> None:
    serve(gateway, LONG)
    asked_headers = {"Accept-Encoding": "gzip, identity;q=0"}
    signed_in = await gateway.client.post("/api/auth/login", json={"email": "a@b.example"}, headers=asked_headers)
    assert "content-encoding" not in signed_in.headers
    gateway.upstream.response = (422, {"invalid_params": LONG})
    gateway.upstream.headers = {"Content-Type": "application/problem+json"}
    for path in ("/api/products?limit=0", "/api/vendors?limit=0"):
        response, _ = await fetched(gateway, path, **asked_headers)
        assert (response.status_code, "content-encoding" in response.headers) == (422, False)


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json", "/docs", "/events", "/errors/validation-failed"])
async def test_documents_are_compressed_and_tagged(gateway: Gateway, path: str) -> None:
    plain, body = await fetched(gateway, path)
    response, compressed = await fetched(gateway, path, **GZIP)
    assert varies_by_coding(plain)
    assert varies_by_coding(response)
    assert response.headers["etag"] == plain.headers["etag"]
    assert gzip.decompress(compressed) == body if "content-encoding" in response.headers else len(body) < 1_024
    again, nothing = await fetched(gateway, path, **GZIP, **{"If-None-Match": response.headers["etag"]})
    assert (again.status_code, nothing) == (304, b"")
