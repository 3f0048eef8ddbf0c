"""What the gateway answers itself."""

import json
from typing import get_args

from campus_tools.testing import eventually
from common.problems import Code, slug_of
from common.process import hear_broadcasts

from .conftest import Gateway, OpenGateway, problem_of


async def test_health_stands_in_the_envelope_and_readiness_needs_broker_and_database(gateway: Gateway) -> None:
    alive = (await gateway.client.get("/health/liveness")).json()
    assert (alive["success"], alive["data"], alive["meta"]["version"]) == (True, {"status": "alive"}, "v1")
    not_yet = await gateway.client.get("/health/readiness")
    assert not_yet.status_code == 503
    assert "broker" in problem_of(not_yet)["detail"]
    import asyncio

    hearing = asyncio.create_task(hear_broadcasts(gateway.runtime))

    async def ready() -> bool:
        return (await gateway.client.get("/health/readiness")).status_code == 200

    assert await eventually(ready, within=20)
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)


async def test_own_pages_are_not_counted(gateway: Gateway) -> None:
    before = (await gateway.client.get("/api/products")).headers["ratelimit-remaining"]
    for path in ("/health/liveness", "/docs", "/.well-known/jwks.json", "/openapi.json", "/errors/internal-error"):
        answer = await gateway.client.get(path)
        assert answer.status_code in (200, 201)
        assert answer.headers["ratelimit-remaining"] == before


async def test_every_code_of_the_specification_has_its_page(gateway: Gateway) -> None:
    for code in get_args(Code):
        page = await gateway.client.get(f"/errors/{slug_of(code)}")
        assert page.status_code == 200
        assert code in page.text
    assert (await gateway.client.get("/errors/unknown")).status_code == 404


async def test_the_reference_page_loads_nothing_from_elsewhere(gateway: Gateway) -> None:
    page = await gateway.client.get("/docs")
    assert "//" not in page.text.replace("<!doctype", "")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for asset in ("/docs/docs.css", "/docs/docs.js"):
        assert asset in page.text
        assert (await gateway.client.get(asset)).status_code == 200


async def test_the_reference_shows_public_routes_only_and_stays_while_services_are_away(
    gateway: Gateway, open_gateway: OpenGateway
) -> None:
    document = json.loads((await gateway.client.get("/openapi.json")).content)
    assert set(document["paths"]) == {"/api/orders/{order_id}", "/api/orders/checkout"}
    away = await open_gateway(upstream_url="http://127.0.0.1:9")
    assert (await away.client.get("/openapi.json")).status_code == 503
