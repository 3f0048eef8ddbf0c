"""Ambiguous requests, which no browser sends, are rejected or harmless, form by form, on one gateway process.

`ambiguous_requests.py` has the forms. Each gives the client's response, whether the connection ends, and the requests
of its service: only requests that the gateway has checked. The service's requests are parsed by a separate parser with
the strictest framing.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest
import pytest_asyncio

from common.primitives.ids import new_id
from testkit.fixtures import DatabaseUrls, eventually
from testkit.service_kit import Issuer, issuing

from .ambiguous_requests import FORMS, KEY, KEY_2, LOGIN, WEBHOOK, Form, get, post
from .gateway_process import Process, running_process
from .raw_http import LONG_RESPONSE, Recorder, connected

# Each form is its own request: quotas do not apply, and no response is cached.
SETTINGS = {
    "RATE_TIER_1": "100000",
    "RATE_TIER_2": "100000",
    "RATE_TIER_4": "100000",
    "RATE_TIER_4_ADDRESS": "100000",
    "RATE_REFUSED_REFRESHES": "100000",
    "RATE_MACHINES": "100000",
    "EDGE_CACHE_SECONDS": "0",
}
# Only for clients that withhold announced bytes: any other may be late on a busy machine.
IMPATIENT = {"CLIENT_HEAD_SECONDS_MAX": "1", "CLIENT_BODY_SECONDS_MAX": "1", "CLIENT_ANSWER_SECONDS_MAX": "1"}


@dataclass(frozen=True)
class Bench:
    process: Process
    recorder: Recorder
    issuer: Issuer


@asynccontextmanager
async def benched(urls: DatabaseUrls, broker_url: str, settings: Mapping[str, str]) -> AsyncIterator[Bench]:
    recorder = Recorder()
    server = await asyncio.start_server(recorder.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with issuing() as issuer, running_process(urls, broker_url, issuer, url, **settings) as (process, _):
        yield Bench(process, recorder, issuer)
    server.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def patient(module_urls: DatabaseUrls, broker_url: str) -> AsyncIterator[Bench]:
    async with benched(module_urls, broker_url, SETTINGS) as bench:
        yield bench


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def impatient(module_urls: DatabaseUrls, broker_url: str) -> AsyncIterator[Bench]:
    """Yield a gateway that waits a second for announced bytes of a client."""
    async with benched(module_urls, broker_url, SETTINGS | IMPATIENT) as bench:
        yield bench


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
async def test_ambiguous_requests_are_rejected_or_harmless(patient: Bench, impatient: Bench, form: Form) -> None:
    bench = impatient if form.awaits_client else patient
    bench.recorder.seen.clear()
    async with connected(bench.process.port) as client:
        await client.send(form.sent)
        response = await client.response(has_body=form.has_body)
        assert response.status == form.status
        for name in ("x-request-id", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "api-version"):
            assert name in response.headers
        assert "server" not in response.headers
        if form.status >= 400 and form.has_body:
            problem = json.loads(response.body)
            assert response.headers["content-type"] == "application/problem+json"
            assert (problem["status"], problem["code"]) == (form.status, form.code)
            assert problem["requestId"] == response.headers["x-request-id"]
        if form.closes:
            assert await client.is_closed()
        else:
            assert await client.lives()
    assert tuple(line.split(" ")[1] for line, _, _ in bench.recorder.seen) == form.seen
    assert bench.recorder.misread == []
    if form.body is not None:
        assert bench.recorder.seen[-1][2] == form.body
    for _, headers, _ in bench.recorder.seen:
        assert "host" in headers
        assert not {"x-user-id", "upgrade", "connection", "te", "expect", "trailer", "http2-settings"} & set(headers)


async def test_two_keys_are_no_key(patient: Bench) -> None:
    patient.recorder.seen.clear()
    token = f"Authorization: Bearer {patient.issuer.token(new_id())}"
    async with connected(patient.process.port) as client:
        await client.send(post(b"{}", "Content-Length: 2", token, KEY, KEY_2, target="/api/orders/checkout"))
        response = await client.response()
        assert (response.status, json.loads(response.body)["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    assert patient.recorder.seen == []


async def test_requests_of_one_connection_are_served_in_their_order(patient: Bench) -> None:
    patient.recorder.seen.clear()
    probes = [f"/api/products?number={number}" for number in range(20)]
    async with connected(patient.process.port) as client:
        await client.send(b"".join(get(target) for target in probes) + get("/nowhere"))
        statuses = [(await client.response()).status for _ in range(21)]
    assert statuses == [200] * 20 + [404]
    assert [line.split(" ")[1] for line, _, _ in patient.recorder.seen] == probes


async def test_a_client_gets_100_continue_only_when_its_body_is_read(patient: Bench) -> None:
    async with connected(patient.process.port) as client:
        await client.send(post(b"", "Content-Length: 2", "Expect: 100-continue"))
        assert (await client.response()).status == 100
        await client.send(b"{}")
        assert (await client.response()).status == 200
    async with connected(patient.process.port) as client:
        await client.send(post(b"", "Content-Length: 9000000", "Expect: 100-continue"))
        assert (await client.response()).status == 413


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /api/products HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        get() + b"GET /api/products HTTP/1.1\r\nHost:",
        post(b"12", "Content-Length: 900", target="/api/orders/checkout"),
    ],
    ids=["nothing", "a head", "a second head", "a body that was refused"],
)
async def test_a_client_with_an_incomplete_body_is_not_waited_for(impatient: Bench, sent: bytes) -> None:
    """The first requests get responses, and then the connection ends although the client would wait for ever."""
    async with connected(impatient.process.port) as client:
        await client.send(sent)
        if sent.startswith((b"POST", get())):
            assert (await client.response()).status in (200, 401)
        assert await client.is_closed()


@pytest.mark.parametrize("claimed", [b"", b"{"], ids=["none", "some"])
@pytest.mark.parametrize("target", [LOGIN, WEBHOOK])
async def test_a_body_that_does_not_arrive_in_time_is_408(impatient: Bench, target: str, claimed: bytes) -> None:
    async with connected(impatient.process.port) as client:
        await client.send(post(claimed, "Content-Length: 300", target=target))
        response = await client.response()
        assert (response.status, json.loads(response.body)["code"]) == (408, "VALIDATION_FAILED")
        assert await client.is_closed()


async def test_a_client_that_reads_no_response_holds_no_connection_to_a_service(impatient: Bench) -> None:
    impatient.recorder.seen.clear()
    token = f"Authorization: Bearer {impatient.issuer.token(new_id())}"
    _, writer = await asyncio.open_connection("127.0.0.1", impatient.process.port, limit=1)
    writer.write(get(LONG_RESPONSE, token))
    await eventually(lambda: impatient.recorder.seen)

    async def was_given_up() -> bool:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as inside:
            metrics = (await inside.get(f"http://127.0.0.1:{impatient.process.metrics_port}/metrics")).text
        return f'gateway_requests_total{{route="GET {LONG_RESPONSE}"' in metrics

    assert await eventually(was_given_up)
    writer.close()
