"""The process itself: its two ports, and the state that survives it."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit
from uuid import uuid4

import asyncpg
import httpx
import msgspec
import pytest

from common.messaging.bus import Bus, Outgoing
from common.messaging.topology import declare_topology, declared_topology
from common.primitives.clock import SystemClock, iso
from common.primitives.ids import new_id
from common.primitives.retry import RetryLadder
from contracts.identity import SessionRevoked
from testkit.fixtures import PATIENT, DatabaseUrls, eventually
from testkit.service_kit import Issuer

from .conftest import Upstream
from .gateway_process import running_process


async def test_a_killed_gateway_neither_drops_nor_repeats_an_idempotent_request(
    module_urls: DatabaseUrls, broker_url: str, upstream: Upstream, issuer: Issuer
) -> None:
    async with running_process(module_urls, broker_url, issuer, upstream.url) as (process, client):
        user = new_id()

        async def checkout(key: object) -> httpx.Response:
            headers = {"Authorization": f"Bearer {issuer.token(user)}", "Idempotency-Key": str(key)}
            return await client.post("/api/orders/checkout", json={"items": []}, headers=headers)

        finished, interrupted = uuid4(), uuid4()
        first = await checkout(finished)
        upstream.gate.clear()
        burst = asyncio.gather(*(checkout(interrupted) for _ in range(20)), return_exceptions=True)
        await eventually(lambda: len(upstream.seen) == 2)
        await process.end(signal.SIGKILL)
        outcomes = await burst
        assert all(isinstance(one, httpx.TransportError) or one.status_code == 409 for one in outcomes)
        upstream.gate.set()

        await process.start()
        again = await checkout(finished)
        assert (again.content, again.headers["x-cache-lookup"]) == (first.content, "HIT")
        waiting = await checkout(interrupted)
        assert waiting.status_code == 409, "the lease of the killed process still holds"
        assert len(upstream.seen) == 2

        connection = await asyncpg.connect(module_urls.owner)
        await connection.execute("UPDATE idempotency_records SET leased_until = now() WHERE status IS NULL")
        await connection.close()
        assert (await checkout(interrupted)).status_code == 201, "after the lease the same request may run"
        assert upstream.last["headers"]["idempotency-key"] == str(interrupted), "the service judges by its own record"
        assert len(upstream.seen) == 3


async def test_metrics_and_health_respond_on_the_internal_port_only(
    module_urls: DatabaseUrls, broker_url: str, upstream: Upstream, issuer: Issuer
) -> None:
    async with running_process(module_urls, broker_url, issuer, upstream.url) as (process, client):
        await client.get("/api/products")
        assert (await client.get("/metrics")).status_code == 404
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{process.metrics_port}", trust_env=False, timeout=60
        ) as inside:
            metrics = (await inside.get("/metrics")).text
            assert 'gateway_requests_total{route="GET /api/products",status="201"} 1.0' in metrics
            assert 'gateway_request_seconds_count{route="GET /api/products"} 1.0' in metrics
            assert (await inside.get("/health/liveness")).status_code == 200
            assert (await inside.get("/api/products")).status_code == 404


async def test_a_published_revocation_applies_and_outlives_the_process(
    module_urls: DatabaseUrls, broker_url: str, upstream: Upstream, issuer: Issuer
) -> None:
    async with running_process(module_urls, broker_url, issuer, upstream.url) as (process, client):
        user, session = new_id(), new_id()
        headers = {"Authorization": f"Bearer {issuer.token(user, session_id=str(session))}"}
        assert (await client.get("/api/orders", headers=headers)).status_code == 201
        bus = Bus(broker_url, declared_topology(RetryLadder()), "test", PATIENT.broker_connect)
        assert await bus.publish([_outgoing(SessionRevoked(user_id=user, session_id=session, not_before=_now()))]) == [
            True
        ]
        await bus.close()

        async def refused() -> bool:
            return (await client.get("/api/orders", headers=headers)).status_code == 401

        assert await eventually(refused)
        await process.end(signal.SIGKILL)
        await process.start()
        assert await eventually(refused, within=60)


@asynccontextmanager
async def broker_unavailable(broker_url: str, management_url: str) -> AsyncIterator[None]:
    """Remove the virtual host from the broker: its connections end, and new ones are rejected."""
    parts = urlsplit(broker_url)
    host, user = parts.path.lstrip("/"), quote(parts.username or "guest", safe="")
    rights = {"configure": ".*", "write": ".*", "read": ".*"}
    async with httpx.AsyncClient(base_url=management_url, timeout=60, trust_env=False) as api:
        (await api.delete(f"/api/vhosts/{host}")).raise_for_status()
        try:
            yield
        finally:
            (await api.put(f"/api/vhosts/{host}")).raise_for_status()
            (await api.put(f"/api/permissions/{host}/{user}", json=rights)).raise_for_status()
            await declare_topology(broker_url, declared_topology(RetryLadder()))


async def test_without_the_broker_all_is_served_and_a_metric_shows_the_revocation_delay(
    module_urls: DatabaseUrls, broker_url: str, management_url: str, upstream: Upstream, issuer: Issuer
) -> None:
    async with (
        running_process(module_urls, broker_url, issuer, upstream.url) as (process, client),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{process.metrics_port}", trust_env=False, timeout=60) as inside,
    ):

        async def seconds_unheard() -> float:
            found = re.search(r"^broadcasts_unheard_seconds (\S+)$", (await inside.get("/metrics")).text, re.MULTILINE)
            assert found is not None
            return float(found[1])

        async def listens() -> bool:
            return await seconds_unheard() == 0

        async def is_deaf() -> bool:
            return await seconds_unheard() > 0

        assert await eventually(listens, within=60)
        async with broker_unavailable(broker_url, management_url):
            assert await eventually(is_deaf, within=60)
            for endpoint in (inside, client):
                assert (await endpoint.get("/health/readiness")).status_code == 200
            headers = {"Authorization": f"Bearer {issuer.token(new_id())}"}
            assert (await client.get("/api/orders", headers=headers)).status_code == 201
            idempotent_requests = {**headers, "Idempotency-Key": str(uuid4())}
            assert (
                await client.post("/api/orders/checkout", json={"items": []}, headers=idempotent_requests)
            ).status_code == 201
        assert await eventually(listens, within=60)


async def test_a_running_request_ends_before_the_process_does(
    module_urls: DatabaseUrls, broker_url: str, upstream: Upstream, issuer: Issuer
) -> None:
    async with running_process(module_urls, broker_url, issuer, upstream.url) as (process, client):
        upstream.gate.clear()
        under_way = asyncio.create_task(client.get("/api/products"))
        await eventually(lambda: upstream.seen)
        ending = asyncio.create_task(process.end(signal.SIGTERM))

        async def closed() -> bool:
            try:
                async with httpx.AsyncClient(trust_env=False) as other:
                    await other.get(f"http://127.0.0.1:{process.port}/health/liveness")
            except httpx.TransportError:
                return True
            return False

        await eventually(closed)
        upstream.gate.set()
        assert (await under_way).status_code == 201
        assert await ending == 0


@pytest.mark.parametrize(("enabled", "lines"), [("true", 1), ("false", 0)])
async def test_the_access_log_has_a_switch(
    module_urls: DatabaseUrls,
    broker_url: str,
    upstream: Upstream,
    issuer: Issuer,
    tmp_path: Path,
    enabled: str,
    lines: int,
) -> None:
    log = tmp_path / "log"
    changed = {"LOG_LEVEL": "ERROR", "ACCESS_LOG_ENABLED": enabled}
    async with running_process(module_urls, broker_url, issuer, upstream.url, log, **changed) as (process, client):
        assert (await client.get("/api/orders")).status_code == 401
        assert await process.end(signal.SIGTERM) == 0
    records = [json.loads(line) for line in log.read_text().splitlines()]
    written = [record for record in records if record.get("log") == "access"]
    assert [(record["service"], record["event"], record["route"]) for record in written] == [
        ("api-gateway", "refused", "/api/orders")
    ] * lines


def _now() -> str:
    return iso(SystemClock().now())


def _outgoing(event: SessionRevoked) -> Outgoing:
    body = {
        "specversion": "1.0",
        "id": str(new_id()),
        "source": "/services/identity",
        "type": event.TYPE,
        "subject": event.subject,
        "time": _now(),
        "sequence": 1,
        "data": msgspec.to_builtins(event),
    }
    return Outgoing(msgspec.json.encode(body), str(new_id()), event.TYPE, None, {})
