"""How long a client waits when a part of the system stops: a read and a write at a fixed rate, none of them
repeated.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import uuid4

import httpx

from lab.drills.scale.journeys import Journeys
from operations.journey import Marketplace, SignedInUser

READ, WRITE = "read", "write"
_EVERY_SECONDS: Final = 0.2
# A client's own patience; the edge gives up earlier.
_TIMEOUT_SECONDS: Final = 20.0


class Probe(NamedTuple):
    """One request: its kind, its start and end on the monotonic clock, and whether its response was a success."""

    kind: str
    began: float
    ended: float
    succeeded: bool


class Unavailability(NamedTuple):
    """`seconds`: from the first request without success to the first success after the last one; 0 without failures.

    `longest_seconds`: the longest time to a successful response.
    """

    requests: int
    failed: int
    seconds: float
    longest_seconds: float

    def __str__(self) -> str:
        return f"{self.failed} of {self.requests} failed for {self.seconds:.1f} s, {self.longest_seconds:.1f} s"


@dataclass(slots=True)
class Prober:
    """Sends the buyer's orders (a read) and a line of the cart (a write) until stopped."""

    market: Marketplace
    buyer: SignedInUser
    product_id: str
    probes: list[Probe] = field(default_factory=list)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self) -> None:
        """Send each request on time, whether or not the ones before it have ended."""
        quantities = itertools.cycle(range(1, 10))
        # A client of its own: connections that wait do not delay other requests.
        limits = httpx.Limits(max_connections=500)
        async with httpx.AsyncClient(
            base_url=self.market.http.base_url, timeout=_TIMEOUT_SECONDS, limits=limits, trust_env=False
        ) as client:
            while not self._stopping.is_set():
                body = {"quantity": next(quantities)}
                path = f"/api/carts/current/items/{self.product_id}"
                self._start(READ, lambda: client.get("/api/orders", headers=self.buyer.headers))
                self._start(WRITE, lambda body=body, path=path: self._put(client, path, body))  # type: ignore[misc]
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), _EVERY_SECONDS)
            await asyncio.gather(*self._running)

    def stop(self) -> None:
        self._stopping.set()

    def between(self, kind: str, began: float, ended: float) -> Unavailability:
        """Return the unavailability for requests that started in this time."""
        probes = [probe for probe in self.probes if probe.kind == kind and began <= probe.began < ended]
        failed = [probe for probe in probes if not probe.succeeded]
        longest = max((probe.ended - probe.began for probe in probes if probe.succeeded), default=0.0)
        if not failed:
            return Unavailability(len(probes), 0, 0.0, longest)
        first, last = min(probe.began for probe in failed), max(probe.began for probe in failed)
        later = [probe.ended for probe in self.probes if probe.kind == kind and probe.succeeded and probe.began > last]
        return Unavailability(len(probes), len(failed), min(later, default=float("inf")) - first, longest)

    async def _put(self, client: httpx.AsyncClient, path: str, body: dict[str, int]) -> httpx.Response:
        return await client.put(path, json=body, headers={**self.buyer.headers, "X-Request-Id": uuid4().hex})

    def _start(self, kind: str, send: Callable[[], Awaitable[httpx.Response]]) -> None:
        task = asyncio.create_task(self._probe(kind, send))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _probe(self, kind: str, send: Callable[[], Awaitable[httpx.Response]]) -> None:
        began = time.monotonic()
        try:
            succeeded = (await send()).is_success
        except httpx.TransportError:
            succeeded = False
        self.probes.append(Probe(kind, began, time.monotonic(), succeeded))


@asynccontextmanager
async def under_load(market: Marketplace, journeys: Journeys, orders_per_second: float) -> AsyncIterator[Prober]:
    """Run the journeys and a prober during the block, and let both end after it."""
    prober = Prober(market, journeys.buyer, journeys.products[0])
    async with asyncio.TaskGroup() as group:
        group.create_task(journeys.run(orders_per_second))
        group.create_task(prober.run())
        try:
            yield prober
        finally:
            journeys.stop()
            prober.stop()
