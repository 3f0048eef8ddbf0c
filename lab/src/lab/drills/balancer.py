"""Forward connections to the ready instances of a process in turn, as a Kubernetes Service does."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import httpx

# More frequent than in a real balancer: the drill waits for a probe at each restart.
PROBE_SECONDS: Final = 0.1
# The time in which connections forwarded before the drain are accepted (the preStop of the manifests).
SHUTDOWN_DRAIN_SECONDS: Final = 1.0
_BYTES: Final = 65_536


@dataclass
class Balancer:
    """A TCP balancer. `instances`: the port of each instance and its health port; None: it is ready when it accepts.

    `trust` is for instances that serve TLS. As an edge (`is_edge`) it serves plain, and encrypts on the way to them.
    """

    instances: Mapping[int, int | None]
    trust: ssl.SSLContext | None = None
    is_edge: bool = False
    ready: set[int] = field(default_factory=set)
    _draining: set[int] = field(default_factory=set)
    _turn: int = 0

    async def probe_for_ever(self) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=5, verify=self.trust or False) as client:
            while True:
                for port, health_port in self.instances.items():
                    if health_port is None:
                        self.ready.add(port)
                    else:
                        await self._probe(client, port, health_port)
                await asyncio.sleep(PROBE_SECONDS)

    async def drain(self, port: int) -> None:
        """Forward no connections to the instance until it was restarted."""
        self._draining.add(port)
        self.ready.discard(port)
        await asyncio.sleep(SHUTDOWN_DRAIN_SECONDS)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(len(self.instances)):
            self._turn += 1
            if not (ready := sorted(self.ready)):
                break
            port = ready[self._turn % len(ready)]
            try:
                upstream_reader, upstream_writer = await asyncio.open_connection(
                    "127.0.0.1", port, ssl=self.trust if self.is_edge else None
                )
            except OSError:
                # Nothing was sent yet: try the next instance.
                self.ready.discard(port)
                continue
            await asyncio.gather(_pipe(reader, upstream_writer), _pipe(upstream_reader, writer))
            return
        writer.close()

    async def _probe(self, client: httpx.AsyncClient, port: int, health_port: int) -> None:
        try:
            scheme = "https" if self.trust else "http"
            response = await client.get(
                f"{scheme}://127.0.0.1:{health_port}/health/readiness", headers={"Connection": "close"}
            )
            is_ready = response.status_code == 200
        except httpx.TransportError:
            is_ready = False
        if not is_ready:
            self._draining.discard(port)
        (self.ready.add if is_ready and port not in self._draining else self.ready.discard)(port)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while received := await reader.read(_BYTES):
            writer.write(received)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def balanced(
    port: int, instances: Mapping[int, int | None], trust: ssl.SSLContext | None = None, *, is_edge: bool = False
) -> AsyncIterator[Balancer]:
    """Yield a balancer that listens on `port` of this machine."""
    async with AsyncExitStack() as stack:
        balancer = Balancer(instances, trust, is_edge)
        probing = asyncio.create_task(balancer.probe_for_ever())
        stack.callback(probing.cancel)
        server = await asyncio.start_server(balancer.serve, "127.0.0.1", port)
        stack.callback(server.close)
        yield balancer
