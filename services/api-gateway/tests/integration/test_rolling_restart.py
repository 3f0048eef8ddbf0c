"""Gateways behind a balancer are restarted one after another under load, and no request fails."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from uuid import uuid4

import httpx

from common.primitives.ids import new_id
from testkit.fixtures import DatabaseUrls, eventually
from testkit.service_kit import Issuer

from .conftest import Upstream
from .gateway_process import Process, running_process

# Far more often than a real balancer probes, and with a longer drain than by default: on a busy machine a process may
# pause for a second or two.
PROBE_SECONDS = 0.1
SHUTDOWN_DRAIN_SECONDS = "5"
CLIENTS = 8


@dataclass
class Balancer:
    """Forwards connections, byte for byte, to the ready gateways in turn. Its readiness probe is its only use of
    HTTP.
    """

    ports: Sequence[int]
    ready: set[int] = field(default_factory=set)
    turn: int = 0

    async def probe_for_ever(self) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            while True:
                for port in self.ports:
                    try:
                        response = await client.get(
                            f"http://127.0.0.1:{port}/health/readiness", headers={"Connection": "close"}
                        )
                        is_ready = response.status_code == 200
                    except httpx.TransportError:
                        is_ready = False
                    (self.ready.add if is_ready else self.ready.discard)(port)
                await asyncio.sleep(PROBE_SECONDS)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.turn += 1
        ready = sorted(self.ready)
        there, here = await asyncio.open_connection("127.0.0.1", ready[self.turn % len(ready)])
        await asyncio.gather(_pipe(reader, here), _pipe(there, writer))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while received := await reader.read(65_536):
            writer.write(received)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def balanced(ports: Sequence[int]) -> AsyncIterator[tuple[Balancer, str]]:
    balancer = Balancer(ports)
    probing = asyncio.create_task(balancer.probe_for_ever())
    server = await asyncio.start_server(balancer.serve, "127.0.0.1", 0)
    try:
        await eventually(lambda: len(balancer.ready) == len(ports))
        yield balancer, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        probing.cancel()
        server.close()


@dataclass
class Client:
    """Reads and buys without a pause on persistent connections, and retries nothing."""

    http: httpx.AsyncClient
    token: dict[str, str]
    responses: int = 0
    failed: list[str] = field(default_factory=list)
    is_done: bool = False

    async def work(self) -> None:
        while not self.is_done:
            try:
                read = await self.http.get("/api/orders", headers=self.token)
                key = {"Idempotency-Key": str(uuid4())}
                bought = await self.http.post("/api/orders/checkout", json={"items": []}, headers=self.token | key)
                self.failed += [
                    f"{one.status_code} {one.text[:200]}" for one in (read, bought) if one.status_code != 201
                ]
            except httpx.TransportError as error:
                self.failed.append(repr(error))
            self.responses += 2


async def test_no_request_is_lost_while_gateways_are_restarted_one_after_another(
    module_urls: DatabaseUrls, broker_url: str, upstream: Upstream, issuer: Issuer
) -> None:
    async with AsyncExitStack() as stack:
        processes: list[Process] = []
        for _ in range(2):
            opened = running_process(
                module_urls,
                broker_url,
                issuer,
                upstream.url,
                RATE_TIER_2="1000000",
                SHUTDOWN_DRAIN_SECONDS=SHUTDOWN_DRAIN_SECONDS,
            )
            processes.append((await stack.enter_async_context(opened))[0])
        balancer, url = await stack.enter_async_context(balanced([process.port for process in processes]))
        clients = []
        for _ in range(CLIENTS):
            http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, trust_env=False, timeout=60))
            clients.append(Client(http, {"Authorization": f"Bearer {issuer.token(new_id())}"}))
        working = [asyncio.create_task(client.work()) for client in clients]
        for process in processes:
            responses = sum(client.responses for client in clients)
            assert await process.end(signal.SIGTERM) == 0
            await process.start()
            await eventually(lambda: len(balancer.ready) == 2, within=60)
            assert sum(client.responses for client in clients) > responses, "the other one answers in the meantime"
        for client in clients:
            client.is_done = True
        await asyncio.gather(*working)
        assert [failure for client in clients for failure in client.failed] == []
        keys = [seen["headers"].get("idempotency-key") for seen in upstream.seen if seen["method"] == "POST"]
        assert len(keys) == len(set(keys)), "and nothing is done twice"
