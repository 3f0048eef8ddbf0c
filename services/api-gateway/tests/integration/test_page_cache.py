"""Pages that anonymous readers share: fresh after each change, without private data, and bounded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from common.messaging.bus import Bus, Outgoing
from common.messaging.topology import declared_topology
from common.primitives.clock import SystemClock, iso
from common.primitives.ids import new_id
from common.primitives.retry import RetryLadder
from common.process.revocations import consume_broadcasts
from contracts.orders import ProductChanged
from testkit.fixtures import PATIENT, eventually
from testkit.service_kit import BASE_URL

from .conftest import PATIENT_LIMITS, GatewayApp, OpenGateway, problem_of

PRODUCT = UUID("018cc251-f400-7005-8000-000000000001")
OTHER = UUID("018cc251-f400-7005-8000-000000000002")
PUBLIC = {"Cache-Control": "public, no-cache", "ETag": 'W/"first"'}


def page(price: int = 1, **meta: Any) -> dict[str, Any]:
    stamp = {"timestamp": "2026-01-01T00:00:00.000Z", "version": "v1", "requestId": "req_oftheservice0001", **meta}
    return {"success": True, "data": [{"priceMinor": price}], "meta": stamp}


def serve(app: GatewayApp, price: int = 1, **headers: str) -> None:
    app.upstream.response, app.upstream.headers = (200, page(price, next_cursor="abc")), {**PUBLIC, **headers}


async def price_of(app: GatewayApp, url: str = "/api/products", **headers: str) -> int:
    response = await app.client.get(url, headers=headers)
    assert response.status_code == 200, response.text
    return int(response.json()["data"][0]["priceMinor"])


def changed(app: GatewayApp, product_id: UUID = PRODUCT) -> None:
    cache = app.dependencies.edge.page_cache
    assert cache is not None
    cache.invalidate_product(product_id)


async def test_readers_share_a_page_and_each_gets_an_response_of_their_own(app: GatewayApp) -> None:
    serve(app)
    first = await app.client.get("/api/products?limit=2", headers={"X-Forwarded-For": "1.1.1.1", "Cookie": "a=b"})
    second = await app.client.get("/api/v1/products?limit=2")
    assert len(app.upstream.seen) == 1
    assert set(app.upstream.last["headers"]) == {"host", "accept", "x-request-id", "traceparent"}
    remaining = []
    for response in (first, second):
        body = response.json()
        assert body["data"] == [{"priceMinor": 1}]
        assert body["meta"]["requestId"] == response.headers["x-request-id"]
        assert body["meta"]["next_cursor"] == "abc"
        assert body["meta"]["timestamp"] > "2026-01-01"
        assert response.headers["etag"] == 'W/"first"'
        assert response.headers["cache-control"] == "public, no-cache"
        assert int(response.headers["age"]) < 60
        assert response.headers["x-content-type-options"] == "nosniff"
        remaining.append(int(response.headers["ratelimit-remaining"]))
    assert remaining[1] == remaining[0] - 1
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    for other in ("/api/products", "/api/products?limit=3", f"/api/products/{PRODUCT}"):
        await price_of(app, other)
    assert len(app.upstream.seen) == 4


async def test_a_client_with_the_page_gets_304(app: GatewayApp) -> None:
    serve(app)
    for known in ('W/"first"', '"old", W/"first"', "*"):
        response = await app.client.get("/api/products", headers={"If-None-Match": known})
        assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", 'W/"first"')
        assert response.headers["ratelimit-limit"]
    assert await price_of(app, **{"If-None-Match": '"old"'}) == 1
    assert len(app.upstream.seen) == 1


async def test_a_change_is_seen_by_the_next_reader(app: GatewayApp) -> None:
    own, other = f"/api/products/{PRODUCT}", f"/api/products/{OTHER}"
    serve(app)
    urls = (own, other, f"/api/products/{str(PRODUCT).upper()}", "/api/products?q=rice", "/api/categories")
    for url in urls:
        await price_of(app, url)
    serve(app, 2)
    changed(app)
    assert [await price_of(app, url) for url in urls] == [2, 1, 2, 2, 2]


async def test_a_buyer_reads_the_remaining_stock_after_a_purchase(app: GatewayApp) -> None:
    """A purchase is published only when it sells the last unit; its own gateway invalidates for each."""
    buyer = {**app.bearer(), "Idempotency-Key": str(uuid4())}
    post, urls = app.client.post, ("/api/products", f"/api/products/{PRODUCT}")
    for status, seen in ((409, 1), (201, 3)):
        serve(app, 1)
        assert [await price_of(app, url) for url in urls] == [1, 1]
        app.upstream.response, app.upstream.headers = (status, page()), {}
        assert (await post("/api/orders/checkout", json={}, headers=buyer)).status_code == status
        serve(app, seen)
        assert [await price_of(app, url) for url in urls] == [seen, seen]
    serve(app, 4)
    app.upstream.response = (200, page())
    assert (await app.client.patch("/api/profiles/current", json={}, headers=buyer)).status_code == 200
    serve(app, 4)
    assert await price_of(app) == 3


async def test_a_change_during_a_fetch_is_never_hidden_by_what_was_fetched(app: GatewayApp) -> None:
    """Requests before the change get the old page; requests after it wait for the new one."""
    serve(app, 1)
    app.upstream.gate.clear()
    before = [asyncio.create_task(price_of(app)) for _ in range(3)]
    await eventually(lambda: len(app.upstream.seen) == 1)
    old_gate, app.upstream.gate = app.upstream.gate, asyncio.Event()
    changed(app)
    # The second fetch finds a gate of its own, so that the first one can end before it, or after it.
    after = asyncio.create_task(price_of(app))
    await eventually(lambda: len(app.upstream.seen) == 2)
    old_gate.set()
    assert await asyncio.gather(*before) == [1, 1, 1]
    serve(app, 2)
    app.upstream.gate.set()
    assert await after == 2
    assert await price_of(app) == 2
    assert len(app.upstream.seen) == 2


async def test_a_hundred_readers_of_an_uncached_page_cause_one_request(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_1=1_000)
    serve(app)
    app.upstream.gate.clear()
    readers = [asyncio.create_task(price_of(app)) for _ in range(40)]
    await eventually(lambda: app.dependencies.edge.metrics.page_cache["joined"] == 39)
    readers[0].cancel()
    app.upstream.gate.set()
    assert await asyncio.gather(*readers[1:]) == [1] * 39
    assert len(app.upstream.seen) == 1


async def test_signed_in_readers_bypass_the_page_cache(app: GatewayApp) -> None:
    serve(app)
    await price_of(app)
    serve(app, 2)
    signed_in = app.bearer()
    response = await app.client.get("/api/products", headers=signed_in)
    assert (response.json()["data"][0]["priceMinor"], response.headers["cache-control"]) == (2, "no-store")
    assert "age" not in response.headers
    assert await price_of(app) == 1
    refused = await app.client.get("/api/products", headers={"Authorization": "Bearer nonsense"})
    assert problem_of(refused)["code"] == "AUTH_UNAUTHORIZED"


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache-Control": "private, no-cache"},
        {"Cache-Control": "no-store"},
        {"Cache-Control": ""},
        {"Set-Cookie": "session=1"},
    ],
    ids=str,
)
async def test_a_response_that_is_not_public_is_not_cached(app: GatewayApp, headers: dict[str, str]) -> None:
    serve(app, 1, **headers)
    await price_of(app)
    serve(app, 2, **headers)
    assert await price_of(app) == 2


async def test_no_error_is_cached(app: GatewayApp) -> None:
    for status in (404, 422, 500, 503):
        app.upstream.response, app.upstream.headers = (status, page()), PUBLIC
        response = await app.client.get(f"/api/products/{uuid4()}")
        assert response.status_code == status
    url = f"/api/products/{uuid4()}"
    app.upstream.response = (404, page())
    assert (await app.client.get(url)).status_code == 404
    serve(app)
    assert await price_of(app, url) == 1
    app.upstream.response = (200, {"success": True})
    assert (await app.client.get("/api/categories")).json() == {"success": True}
    app.upstream.plain = "no envelope"
    assert (await app.client.get("/api/categories")).text == "no envelope"


def refuse(app: GatewayApp, status: int = 404) -> None:
    code = {404: "RESOURCE_NOT_FOUND", 422: "VALIDATION_FAILED", 503: "INTERNAL_ERROR"}[status]
    document = {
        "type": f"{BASE_URL}/errors/{code.lower().replace('_', '-')}",
        "status": status,
        "code": code,
        "instance": "/api/products",
        "requestId": "req_oftheservice0001",
    }
    app.upstream.response = (status, document)
    app.upstream.headers = {
        "Content-Type": "application/problem+json",
        "Cache-Control": "no-store",
        "Retry-After": "5",
    }


@pytest.mark.parametrize("status", [404, 422, 503])
async def test_an_error_is_fetched_once_and_not_cached(app: GatewayApp, status: int) -> None:
    refuse(app, status)
    for probes in (1, 2):
        response = await app.client.get("/api/products?q=x")
        assert problem_of(response)["status"] == status
        assert response.headers["retry-after"] == "5"
        assert "age" not in response.headers
        assert len(app.upstream.seen) == probes
    serve(app)
    assert await price_of(app, "/api/products?q=x") == 1
    assert len(app.upstream.seen) == 3


async def test_all_waiting_readers_get_an_error_with_their_own_request_id(app: GatewayApp) -> None:
    refuse(app)
    app.upstream.gate.clear()
    readers = [asyncio.create_task(app.client.get("/api/products")) for _ in range(20)]
    await eventually(lambda: app.dependencies.edge.metrics.page_cache["joined"] == 19)
    app.upstream.gate.set()
    results = await asyncio.gather(*readers)
    assert {problem_of(response)["status"] for response in results} == {404}
    assert len({response.headers["x-request-id"] for response in results}) == 20
    assert len(app.upstream.seen) == 1


async def test_other_routes_and_other_methods_are_not_shared(app: GatewayApp) -> None:
    serve(app)
    for url in ("/api/vendors", f"/media/{PRODUCT}"):
        for _ in range(2):
            await app.client.get(url)
    assert len(app.upstream.seen) == 4
    head = await app.client.head("/api/products")
    assert (head.status_code, head.content) == (200, b"")
    assert len(app.upstream.seen) == 5


async def test_pages_are_cached_for_their_seconds_and_evicted_by_size(open_gateway: OpenGateway) -> None:
    off = await open_gateway(edge_cache_seconds=0)
    assert off.dependencies.edge.page_cache is None
    serve(off)
    assert [await price_of(off), await price_of(off), len(off.upstream.seen)] == [1, 1, 2]
    short = await open_gateway(edge_cache_seconds=0.05)
    await price_of(short)
    serve(short, 2)

    async def is_seen() -> bool:
        return await price_of(short) == 2

    await eventually(is_seen)
    small = await open_gateway(replace(PATIENT_LIMITS, cached_pages_max=2))
    for url in ("/api/products?n=1", "/api/products?n=2", "/api/products?n=1", "/api/products?n=3"):
        await price_of(small, url)
    probes = len(small.upstream.seen)
    for url in ("/api/products?n=1", "/api/products?n=3"):
        await price_of(small, url)
    assert len(small.upstream.seen) == probes
    await price_of(small, "/api/products?n=2")
    assert len(small.upstream.seen) == probes + 1
    none = await open_gateway(replace(PATIENT_LIMITS, cached_bytes_max=10))
    await price_of(none, "/api/products?n=4")
    probes = len(small.upstream.seen)
    await price_of(none, "/api/products?n=4")
    assert len(small.upstream.seen) == probes + 1


async def test_an_unavailable_service_is_503_for_all_waiting_readers(open_gateway: OpenGateway) -> None:
    app = await open_gateway(upstream_url="http://127.0.0.1:1")
    results = await asyncio.gather(*(app.client.get("/api/products") for _ in range(3)))
    assert {problem_of(response)["status"] for response in results} == {503}


@asynccontextmanager
async def hearing(app: GatewayApp) -> AsyncIterator[None]:
    task = asyncio.create_task(consume_broadcasts(app.runtime))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_every_process_invalidates_a_changed_product(open_gateway: OpenGateway, broker_url: str) -> None:
    gateways = [
        await open_gateway(edge_cache_seconds=60, rate_tier_1=10_000, broker_verified_publishers=False)
        for _ in range(2)
    ]
    event = ProductChanged(
        product_id=PRODUCT, vendor_id=new_id(), name="Suya", price_minor=2, in_stock=True, removed=False
    )
    bus = Bus(broker_url, declared_topology(RetryLadder()), "test", PATIENT.broker_connect)
    async with hearing(gateways[0]), hearing(gateways[1]):
        for app in gateways:
            serve(app)
            await price_of(app)
        serve(gateways[0], 2)

        async def both_are_fresh() -> bool:
            # Published again until both consume: an exclusive queue receives nothing from before its creation.
            await bus.publish([outgoing(event)])
            return [await price_of(app) for app in gateways] == [2, 2]

        assert await eventually(both_are_fresh, within=30)  # The cache expires after 60 s.
    await bus.close()


def outgoing(event: ProductChanged) -> Outgoing:
    body = {
        "specversion": "1.0",
        "id": str(new_id()),
        "source": "/services/orders",
        "type": event.TYPE,
        "subject": event.subject,
        "time": iso(SystemClock().now()),
        "sequence": 1,
        "data": msgspec.to_builtins(event),
    }
    return Outgoing(msgspec.json.encode(body), str(new_id()), event.TYPE, None, {})
