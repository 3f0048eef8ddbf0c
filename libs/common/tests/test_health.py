"""Readiness names what a person must know; it responds within two seconds, whatever is away."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest
from starlette.types import ASGIApp

from common.database.unit_of_work import Database
from common.messaging.bus import Bus
from common.primitives.clock import SystemClock
from common.primitives.limits import WaitLimits
from common.process.runtime import Runtime
from common.process.service_endpoints import process_health_endpoints
from common.web.http import create_app
from common.web.http_context import HttpContext
from common.web.request_scope import RequestScope
from testkit.fixtures import PATIENT, eventually
from testkit.frozen_proxy import frozen_proxy

from .conftest import Mechanisms
from .notebook import Notebook, all_published, consuming, dispatched, publish, rows

RESPONSE_SECONDS_MAX = 2.0
READINESS, SERVING = "/health/readiness", "/health/serving"


def app_of(runtime: Runtime, *, is_worker: bool = False) -> ASGIApp:
    context = HttpContext(runtime.verifier, runtime.clock, "http://localhost", ())
    health = process_health_endpoints(runtime, is_worker=is_worker)
    return RequestScope(create_app(title="tests", endpoints=[health], context=context, dependencies=None))


@asynccontextmanager
async def client_of(runtime: Runtime, **options) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app_of(runtime, **options))
    async with httpx.AsyncClient(transport=transport, base_url="http://tests") as client:
        yield client


async def missing(client: httpx.AsyncClient, path: str) -> str:
    """Return what is not ready; empty when everything is."""
    response = await client.get(path)
    if response.status_code == 200:
        return ""
    assert (response.status_code, response.json()["code"]) == (503, "INTERNAL_ERROR")
    assert int(response.headers["retry-after"]) > 0
    return response.json()["detail"].removeprefix("Not ready: ").removesuffix(".")


@pytest.fixture
def runtime(mechanisms: Mechanisms, bus: Bus) -> Runtime:
    return Runtime("tests", SystemClock(), mechanisms.database, bus, verifier=None)


async def test_readiness_names_a_loop_that_ended(runtime: Runtime) -> None:
    async with client_of(runtime) as client:
        assert await missing(client, READINESS) == ""
        runtime.ended_loops.add("publish-outbox")
        assert await missing(client, READINESS) == "loops"
        assert await missing(client, SERVING) == "loops"


async def test_an_old_outbox_is_not_ready_and_serves(runtime: Runtime, mechanisms: Mechanisms, bus: Bus) -> None:
    await publish(mechanisms, dispatched())
    async with client_of(runtime) as client:
        assert await missing(client, READINESS) == ""
        await rows(mechanisms, "UPDATE outbox SET created_at = now() - interval '61 seconds' RETURNING id")
        assert await missing(client, READINESS) == "outbox"
        assert await missing(client, SERVING) == ""
        async with consuming(mechanisms, bus, Notebook()):
            await eventually(lambda: all_published(mechanisms))
        assert await missing(client, READINESS) == ""


async def test_a_worker_is_ready_while_each_queue_is_consumed(
    runtime: Runtime, mechanisms: Mechanisms, bus: Bus
) -> None:
    async with client_of(runtime, is_worker=True) as client:
        assert await missing(client, READINESS) == "broker, consumers"
        # No process listens to broadcasts here.
        bus._not_consuming_since.clear()
        async with consuming(mechanisms, bus, Notebook()):

            async def ready() -> bool:
                return await missing(client, READINESS) == ""

            await eventually(ready)
            bus._not_consuming_since["tests.orders"] = time.monotonic()
            assert await missing(client, READINESS) == "consumers"


async def test_readiness_responds_in_time_to_a_frozen_database(runtime: Runtime, mechanisms: Mechanisms) -> None:
    async with frozen_proxy(mechanisms.urls.service) as (proxy, url):
        limits = WaitLimits(*[PATIENT.connection_acquire] * 5)
        async with (
            Database.connect(api_url=url, service_url=url, name="test", limits=limits) as database,
            client_of(replace(runtime, database=database)) as client,
        ):
            assert await missing(client, READINESS) == ""
            proxy.freeze()
            for _ in range(3):
                began = time.monotonic()
                assert await missing(client, READINESS) == "database, outbox"
                assert time.monotonic() - began < RESPONSE_SECONDS_MAX
            proxy.resume()
            assert await missing(client, READINESS) == ""
