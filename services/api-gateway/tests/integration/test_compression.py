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
    gateway.upstream.answer = (200, envelope(data))
    gateway.upstream.headers = {"ETag": etag} | ({"Cache-Control": "public, no-cache"} if public else {})


async def fetched(gateway: Gateway, path: str, method: str = "GET", **headers: str) -> tuple[httpx.Response, bytes]:
    """The answer and its body as it was sent."""
    async with gateway.client.stream(method, path, headers={"Accept-Encoding": "identity", **headers}) as answer:
        return answer, b"".join([chunk async for chunk in answer.aiter_raw()])


def varies_by_coding(answer: httpx.Response) -> bool:
    return "accept-encoding" in answer.headers.get("vary", "").lower()


async def test_a_shared_page_is_compressed_once_and_each_reader_has_an_answer_of_their_own(gateway: Gateway) -> None:
    serve(gateway, LONG)
    plain, body = await fetched(gateway, "/api/products")
    assert (plain.headers.get("content-encoding"), json.loads(body)["data"]) == (None, LONG)
    ids = set()
    for _ in range(2):
        answer, packed = await fetched(gateway, "/api/products", **GZIP)
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) == len(packed) < len(body) / 3
        whole = json.loads(gzip.decompress(packed))
        assert (whole["data"], whole["meta"]["requestId"]) == (LONG, answer.headers["x-request-id"])
        ids.add(whole["meta"]["requestId"])
    assert len(ids) == 2
    assert len(gateway.upstream.seen) == 1


@pytest.mark.parametrize("path", ["/api/products", f"/api/products/{PRODUCT}", "/api/vendors", "/api/campuses"])
async def test_a_signed_in_reader_s_catalog_is_compressed_too(gateway: Gateway, path: str) -> None:
    serve(gateway, LONG, public=False)
    answer, packed = await fetched(gateway, path, **GZIP, **gateway.bearer())
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "no-store"
    assert json.loads(gzip.decompress(packed))["data"] == LONG


@pytest.mark.parametrize("signed_in", [False, True])
async def test_every_form_of_a_page_says_that_it_varies_and_shares_one_weak_tag(
    gateway: Gateway, signed_in: bool
) -> None:
    serve(gateway, LONG, etag='"3"')
    caller = gateway.bearer() if signed_in else {}
    for coding in ("identity", "gzip"):
        answer, _ = await fetched(gateway, "/api/products", **caller, **{"Accept-Encoding": coding})
        assert varies_by_coding(answer)
        assert answer.headers["etag"] == 'W/"3"'


async def test_who_has_a_form_of_the_page_is_not_sent_another(gateway: Gateway) -> None:
    serve(gateway, LONG)
    answer, body = await fetched(gateway, "/api/products", **GZIP, **{"If-None-Match": 'W/"first"'})
    assert (answer.status_code, body) == (304, b"")
    assert "content-encoding" not in answer.headers
    assert varies_by_coding(answer)


@pytest.mark.parametrize(
    ("accepted", "is_compressed"), [("gzip;q=0", False), ("identity;q=0, gzip", True), ("identity, gzip;q=0.5", False)]
)
@pytest.mark.parametrize("path", ["/api/products", "/api/vendors", "/openapi.json"])
async def test_the_client_s_weights_decide_on_every_way(
    gateway: Gateway, path: str, accepted: str, is_compressed: bool
) -> None:
    serve(gateway, LONG)
    answer, _ = await fetched(gateway, path, **{"Accept-Encoding": accepted})
    assert (answer.headers.get("content-encoding") == "gzip") is is_compressed


@pytest.mark.parametrize("path", ["/api/products", "/api/vendors"])
async def test_a_short_answer_is_compressed_only_for_who_refuses_the_plain_one(gateway: Gateway, path: str) -> None:
    serve(gateway, SHORT)
    plain, body = await fetched(gateway, path, **GZIP)
    assert ("content-encoding" in plain.headers, json.loads(body)["data"]) == (False, SHORT)
    packed, body = await fetched(gateway, path, **{"Accept-Encoding": "gzip, identity;q=0"})
    assert (packed.headers["content-encoding"], json.loads(gzip.decompress(body))["data"]) == ("gzip", SHORT)


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
    answer, body = await fetched(gateway, "/api/vendors", **GZIP)
    assert "content-encoding" not in answer.headers
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
    answer, _ = await fetched(gateway, path, **gateway.bearer(), **{"Accept-Encoding": "gzip, identity;q=0"})
    assert answer.status_code == 200
    assert "content-encoding" not in answer.headers
    assert not varies_by_coding(answer)


async def test_tokens_and_refusals_are_never_compressed(gateway: Gateway) -> None:
    serve(gateway, LONG)
    asked = {"Accept-Encoding": "gzip, identity;q=0"}
    signed_in = await gateway.client.post("/api/auth/login", json={"email": "a@b.example"}, headers=asked)
    assert "content-encoding" not in signed_in.headers
    gateway.upstream.answer = (422, {"invalid_params": LONG})
    gateway.upstream.headers = {"Content-Type": "application/problem+json"}
    for path in ("/api/products?limit=0", "/api/vendors?limit=0"):
        answer, _ = await fetched(gateway, path, **asked)
        assert (answer.status_code, "content-encoding" in answer.headers) == (422, False)


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json", "/docs", "/events", "/errors/validation-failed"])
async def test_documents_are_compressed_and_tagged(gateway: Gateway, path: str) -> None:
    plain, body = await fetched(gateway, path)
    answer, packed = await fetched(gateway, path, **GZIP)
    assert varies_by_coding(plain)
    assert varies_by_coding(answer)
    assert answer.headers["etag"] == plain.headers["etag"]
    assert gzip.decompress(packed) == body if "content-encoding" in answer.headers else len(body) < 1_024
    again, nothing = await fetched(gateway, path, **GZIP, **{"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, nothing) == (304, b"")
