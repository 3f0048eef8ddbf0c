"""The payouts service as a process, killed at each step of a dispatch. The worker finishes, and the money is sent once.

The test controls the steps from outside: by a lock of the database, or by a response that it delays.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from common.primitives.clock import ManualClock
from payouts.domain.dispatch import LEASE
from payouts.timers import process_due_transfers_once
from testkit.fixtures import DatabaseUrls, eventually
from testkit.sandbox import GATEWAY_KEY, Sandbox
from testkit.service_kit import BASE_URL, CURSOR_KEY, SERVICE_ROLE_KEY, issuing, served

from .conftest import ACCOUNT_NUMBER_KEY, OPENING_BALANCE_MINOR, Scenario
from .signed_events import RELEASE_KEY

KEY = UUID("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
_WAITS_FOR_A_LOCK = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'
"""


class Killable:
    """`python -m payouts api` on the test's database and sandbox, with a running dispatch."""

    def __init__(self, process: asyncio.subprocess.Process, address: str, headers: dict[str, str]) -> None:
        self.process, self.address, self.headers = process, address, headers

    async def dispatch(self) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.address, timeout=60) as client:
            return await client.post("/api/payouts/dispatch", json={}, headers=self.headers)

    async def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


class WalletLine:
    """A proxy between the process and the gateway: the response to a transfer waits until the test forwards it."""

    def __init__(self, gateway_url: str) -> None:
        self._gateway_url, self.is_open = gateway_url, asyncio.Event()

    async def forward(self, request: Request) -> Response:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            headers = {
                name: request.headers[name] for name in ("authorization", "content-type") if name in request.headers
            }
            url = f"{self._gateway_url}{request.url.path}?{request.url.query}"
            response = await client.request(request.method, url, content=await request.body(), headers=headers)
        if (request.method, request.url.path) == ("POST", "/transfer"):
            await self.is_open.wait()
        return Response(response.content, response.status_code, media_type="application/json")

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self.forward, methods=["GET", "POST"])])


@asynccontextmanager
async def running_apart(
    scenario: Any, urls: Any, broker_url: str, line: WalletLine, ports: tuple[int, int]
) -> AsyncIterator[Killable]:
    port, metrics_port = ports
    address = f"http://127.0.0.1:{port}"
    async with issuing() as issuer, served(line.app()) as gateway_url:
        environment = {
            "PORT": str(port), "METRICS_PORT": str(metrics_port), "BASE_URL": BASE_URL, "JWKS_URL": issuer.jwks_url,
            "API_DATABASE_URL": urls.api, "SERVICE_DATABASE_URL": urls.service, "BROKER_URL": broker_url,
            "BROKER_VERIFIED_PUBLISHERS": "false",
            "CURSOR_KEY": CURSOR_KEY, "SERVICE_ROLE_KEY": SERVICE_ROLE_KEY, "ACCOUNT_NUMBER_KEY": ACCOUNT_NUMBER_KEY,
            "RELEASE_VERIFY_KEYS": RELEASE_KEY.public_text,
            "GATEWAY_API_URL": gateway_url, "GATEWAY_SECRET_KEY": GATEWAY_KEY, "GATEWAY_TIMEOUT_SECONDS": "20",
            "PAYOUT_TRANSFER_MINIMUM_MINOR": "1",
        }  # fmt: skip
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "payouts", "api", env={**os.environ, **environment}, stdout=asyncio.subprocess.DEVNULL
        )
        try:
            token = issuer.token(scenario.operator_id, roles=("finance_maker",), stepped_up=True)
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:

                async def is_ready() -> bool:
                    try:
                        return (await client.get("/health/readiness")).status_code == 200
                    except httpx.TransportError:
                        return False

                await eventually(is_ready, 60)
            yield Killable(process, address, {"Authorization": f"Bearer {token}", "Idempotency-Key": str(KEY)})
        finally:
            # Open connections must end, or their server would wait for them.
            line.is_open.set()
            if process.returncode is None:
                process.kill()
                await process.wait()


class Hold:
    """Locks of the test, which stop the dispatch at the same rows."""

    def __init__(self, url: str) -> None:
        self._url, self._held = url, list[asyncpg.Connection]()

    async def acquire(self, statement: str) -> asyncpg.Connection:
        connection = await asyncpg.connect(self._url)
        self._held.append(connection)
        await connection.execute("BEGIN")
        await connection.execute(statement)
        return connection

    async def let_go(self) -> None:
        for connection in self._held:
            await connection.close()
        self._held.clear()


async def waiting(watch: asyncpg.Connection, statement: str) -> None:
    """Wait until a process with this statement waits for a lock."""

    async def is_reached() -> bool:
        return bool(await watch.fetchval(_WAITS_FOR_A_LOCK, statement))

    await eventually(is_reached)


LOCK_PAYOUTS = "SELECT id FROM payout_requests FOR UPDATE"
# PostgreSQL grants table locks in the order of the queue; the first runner gets a row lock.
LOCK_PAYOUTS_TABLE = "LOCK TABLE payout_requests IN EXCLUSIVE MODE"
# Only the response reads them again.
LOCK_LINES = "LOCK TABLE dispatch_lines IN ACCESS EXCLUSIVE MODE"
# The statement with which the service claims a transfer.
LOCK_TRANSFER = "FOR UPDATE OF p, t"


STEPS = ["before the write", "after the write", "during the call", "after the answer", "after the record"]


async def reach(
    step: str, running: Killable, sandbox: Any, line: WalletLine, hold: Hold, watch: asyncpg.Connection
) -> asyncio.Task[Any]:
    """Start the dispatch, and returns when it has reached the step."""

    async def sent() -> bool:
        return len(await sandbox.transfers()) == 1

    if step == "before the write":
        await hold.acquire("LOCK TABLE dispatch_batches IN EXCLUSIVE MODE")
        dispatching = asyncio.create_task(running.dispatch())
        await waiting(watch, "INSERT INTO dispatch_batches")
    elif step == "after the write":
        # The plan waits to write its attempts, and the test queues for the payout's lock: it gets it when the plan
        # commits.
        attempts = await hold.acquire("LOCK TABLE payout_transfers IN SHARE MODE")
        dispatching = asyncio.create_task(running.dispatch())
        await waiting(watch, "INSERT INTO payout_transfers")
        queued = asyncio.create_task(hold.acquire(LOCK_PAYOUTS_TABLE))
        await waiting(watch, LOCK_PAYOUTS_TABLE)
        await attempts.execute("ROLLBACK")
        await queued
        await waiting(watch, LOCK_TRANSFER)
    elif step == "during the call":
        dispatching = asyncio.create_task(running.dispatch())
        await eventually(sent)
    else:
        dispatching = asyncio.create_task(running.dispatch())
        await eventually(sent)
        await hold.acquire(LOCK_PAYOUTS if step == "after the answer" else LOCK_LINES)
        line.is_open.set()
        await waiting(watch, LOCK_TRANSFER if step == "after the answer" else "FROM dispatch_lines")
    return dispatching


@pytest.mark.parametrize("step", STEPS)
async def test_a_dispatch_killed_at_any_step_is_finished_once(
    scenario: Scenario, sandbox: Sandbox, urls: DatabaseUrls, broker_url: str, held_port: Callable[[], int], step: str
) -> None:
    await sandbox.configure(transfer_settlement="immediate")
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    hold, watch, line = Hold(urls.admin), await asyncpg.connect(urls.admin), WalletLine(f"{sandbox.address}/gateway")
    async with running_apart(scenario, urls, broker_url, line, (held_port(), held_port())) as running:
        dispatching = await reach(step, running, sandbox, line, hold, watch)
        await running.kill()
    with pytest.raises(httpx.TransportError):
        await dispatching
    await hold.let_go()
    await watch.close()
    statuses = await scenario.fetch("SELECT status FROM payout_transfers")
    statuses_left = {
        "before the write": [],
        "after the write": ["reserved"],
        "during the call": ["submitting"],
        "after the answer": ["submitting"],
        "after the record": ["success"],
    }
    assert [row["status"] for row in statuses] == statuses_left[step]

    dependencies = scenario.dependencies
    later = ManualClock(datetime.now(UTC) + LEASE + timedelta(seconds=5))
    await process_due_transfers_once(dependencies.database, dependencies.gateways, later)
    if step == "before the write":
        assert await sandbox.transfers() == []
        assert (await scenario.read_payout(payout_id))["transfer"] is None
    # The caller gets no response, and repeats the request under the same key.
    response = (await scenario.dispatch(KEY)).json()["data"]
    assert [transfer["status"] for transfer in response["transfers"]] == ["success"]
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    [transfer] = await sandbox.transfers()
    assert transfer["reference"] == payout["transferReference"]
    assert await sandbox.balance_minor() == OPENING_BALANCE_MINOR - 1_000
    assert await scenario.balance("gateway_cash") == -1_000
    assert len(await scenario.published("payouts.payout_processed.v1")) == 1
