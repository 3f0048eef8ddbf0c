"""Passes connections to those instances of a process that say they are ready, in turn: what a Service does on Kubernetes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import httpx

# Far more often than a real balancer asks: the drill waits for it at each restart.
PROBE_SECONDS: Final = 0.1
# After it is told that an instance leaves, connections that it has just passed on are through (the preStop of the manifests).
SHUTDOWN_DRAIN_SECONDS: Final = 1.0
_BYTES: Final = 65_536


@dataclass
class Balancer:
    """`instances`: the port of each one, and the port at which it tells its health. Knows nothing of HTTP but that question."""

    instances: Mapping[int, int]
    ready: set[int] = field(default_factory=set)
    _draining: set[int] = field(default_factory=set)
    _turn: int = 0

    async def probe_for_ever(self) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
            while True:
                for port, health_port in self.instances.items():
                    await self._probe(client, port, health_port)
                await asyncio.sleep(PROBE_SECONDS)

    async def drain(self, port: int) -> None:
        """The instance gets no more connections until it has been away and is back."""
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
                upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                # Nothing was sent yet: the next one is asked.
                self.ready.discard(port)
                continue
            await asyncio.gather(_pipe(reader, upstream_writer), _pipe(upstream_reader, writer))
            return
        writer.close()

    async def _probe(self, client: httpx.AsyncClient, port: int, health_port: int) -> None:
        try:
            response = await client.get(
                f"http://127.0.0.1:{health_port}/health/readiness", headers={"Connection": "close"}
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
async def balanced(port: int, instances: Mapping[int, int]) -> AsyncIterator[Balancer]:
    """A balancer that listens on `port` of this machine."""
    async with AsyncExitStack() as stack:
        balancer = Balancer(instances)
        probing = asyncio.create_task(balancer.probe_for_ever())
        stack.callback(probing.cancel)
        server = await asyncio.start_server(balancer.serve, "127.0.0.1", port)
        stack.callback(server.close)
        yield balancer
