"""The gateway's own endpoints."""

import asyncio
import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import get_args

import httpx
import pytest

from api_gateway.readiness import CHECKED_EVERY_SECONDS
from common.primitives.clock import ManualClock, SystemClock
from common.primitives.problems import Code, slug_of

from .conftest import PATIENT_LIMITS, GatewayApp, OpenGateway, edge_served, problem_of

UNAVAILABLE = "http://127.0.0.1:9"
ESSENTIAL = ("identity", "orders", "payments")
OTHERS = ("payouts", "notifications")


async def test_liveness_is_in_the_envelope(app: GatewayApp) -> None:
    alive = (await app.client.get("/health/liveness")).json()
    assert (alive["success"], alive["data"], alive["meta"]["version"]) == (True, {"status": "alive"}, "v1")


async def test_readiness_names_each_service_and_does_not_need_the_broker(app: GatewayApp) -> None:
    assert not app.runtime.bus.is_connected
    ready = await app.client.get("/health/readiness")
    services = {name: {"status": "ready", "essential": True} for name in ESSENTIAL}
    services |= {name: {"status": "ready", "essential": False} for name in OTHERS}
    assert (ready.status_code, ready.json()["data"]) == (200, {"status": "ready", "services": services})


async def test_readiness_needs_the_gateway_s_own_database(app: GatewayApp) -> None:
    await app.runtime.database.service.close()
    unavailable = await app.client.get("/health/readiness")
    assert unavailable.status_code == 503
    assert problem_of(unavailable)["detail"] == "Not ready: database."


@pytest.mark.parametrize("missing", [*ESSENTIAL, *OTHERS])
async def test_one_missing_service_is_named_and_blocks_nothing(open_gateway: OpenGateway, missing: str) -> None:
    app = await open_gateway(**{f"{missing}_url": UNAVAILABLE})
    response = await app.client.get("/health/readiness")
    data = response.json()["data"]
    assert (response.status_code, data["status"]) == (200, "degraded")
    assert {
        name: explained["status"] for name, explained in data["services"].items() if explained["status"] != "ready"
    } == {missing: "unreachable"}


async def test_a_service_that_is_not_ready_is_named(app: GatewayApp) -> None:
    app.upstream.health = 503
    response = await app.client.get("/health/readiness")
    assert response.status_code == 503
    assert problem_of(response)["detail"] == "Not ready: identity, orders, payments."


async def test_without_every_other_service_the_essential_ones_are_served(open_gateway: OpenGateway) -> None:
    app = await open_gateway(**{f"{name}_url": UNAVAILABLE for name in (*OTHERS, "identity", "payments")})
    assert (await app.client.get("/health/readiness")).status_code == 200
    none = await open_gateway(**{f"{name}_url": UNAVAILABLE for name in ESSENTIAL})
    refused = await none.client.get("/health/readiness")
    assert refused.status_code == 503
    assert all(name in problem_of(refused)["detail"] for name in ESSENTIAL)


async def test_concurrent_probes_query_each_service_once(open_gateway: OpenGateway) -> None:
    app, clock = await open_gateway(), ManualClock(SystemClock().now())
    edge = replace(app.dependencies.edge, clock=clock)
    async with (
        edge_served(edge) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        for _ in range(2):
            results = await asyncio.gather(*(client.get("/health/readiness") for _ in range(20)))
            assert {response.status_code for response in results} == {200}
        assert app.upstream.health_checks == 5
        app.upstream.health = 503
        assert (await client.get("/health/readiness")).status_code == 200
        clock.advance(timedelta(seconds=CHECKED_EVERY_SECONDS))
        assert (await client.get("/health/readiness")).status_code == 503
        assert app.upstream.health_checks == 10


async def test_a_service_that_hangs_delays_a_probe_for_a_bounded_time(open_gateway: OpenGateway) -> None:
    app = await open_gateway(replace(PATIENT_LIMITS, readiness_seconds_max=0.05))
    app.upstream.gate.clear()
    assert (await app.client.get("/health/readiness")).status_code == 503
    app.upstream.gate.set()


async def test_a_gateway_that_drains_is_not_ready_at_once(app: GatewayApp) -> None:
    assert (await app.client.get("/health/readiness")).status_code == 200
    for end in app.runtime.on_stop:
        end()
    drains = await app.client.get("/health/readiness")
    assert problem_of(drains)["detail"] == "Not ready: draining."


async def test_gateway_endpoints_are_not_counted(app: GatewayApp) -> None:
    before = (await app.client.get("/api/products")).headers["ratelimit-remaining"]
    for path in ("/health/liveness", "/docs", "/.well-known/jwks.json", "/openapi.json", "/errors/internal-error"):
        response = await app.client.get(path)
        assert response.status_code in (200, 201)
        assert response.headers["ratelimit-remaining"] == before


async def test_every_code_of_the_specification_has_its_page(app: GatewayApp) -> None:
    for code in get_args(Code):
        page = await app.client.get(f"/errors/{slug_of(code)}")
        assert page.status_code == 200
        assert all(word in page.text for word in (code, "Typical causes", "What to do", "Example"))
    assert (await app.client.get("/errors/unknown")).status_code == 404


async def test_a_browser_gets_a_page_for_an_unknown_address_and_a_program_a_problem(app: GatewayApp) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
    for path in ("/errors/nope", "/nowhere"):
        page = await app.client.get(path, headers=browser)
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert 'href="/errors"' in page.text
        assert problem_of(await app.client.get(path))["code"] == "RESOURCE_NOT_FOUND"
        assert (await app.client.post(path, headers=browser)).status_code == 405
    unknown = await app.client.get("/api/nowhere", headers=browser)
    assert problem_of(unknown)["code"] == "RESOURCE_NOT_FOUND"


async def test_the_front_page_shows_the_state_of_each_part(app: GatewayApp) -> None:
    page = await app.client.get("/")
    assert page.status_code == 200
    shown = re.findall(r"<td>([a-z-]+)</td><td>([a-z ]+)</td>", page.text)
    services = (await app.client.get("/health/readiness")).json()["data"]["services"]
    assert dict(shown) == {"gateway": "ready", **{name: one["status"] for name, one in services.items()}}
    assert "max-age" not in page.headers.get("cache-control", "")


@pytest.mark.parametrize(
    "path",
    ["/", "/docs", "/events", "/lifecycles", "/errors", *(f"/errors/{slug_of(code)}" for code in get_args(Code))],
)
async def test_a_page_loads_nothing_from_elsewhere(app: GatewayApp, path: str) -> None:
    page = await app.client.get(path)
    assert page.status_code == 200
    loaded = re.findall(r"""(?:src|href|action|data|poster)\s*=\s*["']([^"']+)""", page.text)
    # Without an icon of their own, browsers request /favicon.ico for each page.
    loaded = [target for target in loaded if target != "data:,"]
    assert loaded
    assert all(target.startswith(("/", "#")) and not target.startswith("//") for target in loaded)
    assert not re.search(r"<style|<script(?! src)|\son\w+=|@import|url\((?!#)", page.text)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe-eval" not in policy
    # The guides are built, and have tests of their own.
    for target in {one for one in loaded if not one.startswith(("/guides", "/llms.txt"))}:
        assert (await app.client.get(target.partition("#")[0] or path)).is_success, target


async def test_the_viewer_s_own_files_load_nothing_from_elsewhere(app: GatewayApp) -> None:
    for path in ("/docs/docs.css", "/docs/swagger-ui.css"):
        style = (await app.client.get(path)).text
        assert not re.search(r"""@import|url\((?!\s*["']?data:)""", style)
    for path in ("/docs/docs.js", "/docs/search.js"):
        assert "://" not in (await app.client.get(path)).text
    assert "validatorUrl: null" in (await app.client.get("/docs/docs.js")).text


async def test_documents_are_compressed_and_cached(app: GatewayApp) -> None:
    plain = await app.client.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    compressed = await app.client.get("/openapi.json", headers={"Accept-Encoding": "br, gzip"})
    assert "content-encoding" not in plain.headers
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.content == plain.content
    assert int(compressed.headers["content-length"]) < len(plain.content) / 5
    again = await app.client.get("/openapi.json", headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-request-id"]


@pytest.mark.parametrize("base_url", ["https://shop.example/campus", "http://10.0.0.5:8080"])
async def test_the_documents_name_the_address_under_which_the_gateway_is_known(
    open_gateway: OpenGateway, base_url: str
) -> None:
    app = await open_gateway(base_url=base_url)
    reference = (await app.client.get("/openapi.json")).json()
    assert [server["url"] for server in reference["servers"]] == [base_url]
    example = reference["components"]["responses"]["Error404"]["content"]["application/problem+json"]["examples"]
    assert example["absent"]["value"]["type"] == f"{base_url}/errors/resource-not-found"
    events = (await app.client.get("/asyncapi.json")).json()
    assert events["info"]["externalDocs"]["url"] == f"{base_url}/events"
    for path in ("/openapi.json", "/asyncapi.json", "/arazzo.json"):
        assert "localhost:8080" not in (await app.client.get(path)).text


@pytest.mark.parametrize(
    ("address", "protocol", "host"),
    [("amqps://events.example:5671", "amqps", "events.example:5671"), ("", "amqp", "localhost:5672")],
)
async def test_the_events_name_the_address_of_the_broker(
    open_gateway: OpenGateway, address: str, protocol: str, host: str
) -> None:
    app = await open_gateway(events_address=address)
    broker = (await app.client.get("/asyncapi.json")).json()["servers"]["broker"]
    assert (broker["protocol"], broker["variables"]["broker"]["default"]) == (protocol, host)


async def test_the_documents_are_served_while_every_service_is_unavailable(open_gateway: OpenGateway) -> None:
    unavailable = await open_gateway(upstream_url="http://127.0.0.1:9")
    assert json.loads((await unavailable.client.get("/openapi.json")).content)["openapi"] == "3.1.0"
    assert json.loads((await unavailable.client.get("/asyncapi.json")).content)["asyncapi"] == "3.1.0"
