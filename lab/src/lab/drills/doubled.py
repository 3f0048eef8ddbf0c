"""Two instances of each API process behind balancers, as on Kubernetes, so that no request fails during restarts."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx

from campus_tools.launcher import Startup, System
from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.runtimes import CHECKOUT, Runtime
from campus_tools.servers import Servers
from common.primitives.inside_tls import inside_client_tls
from lab.drills.balancer import Balancer, balanced
from lab.drills.inside_tls import InsideTls
from operations.journey import Marketplace
from operations.processes import CAMPUS, ProcessPlan, SystemPlan

# Ports of the two instances above PORT_BASE, which the process list does not use. A second worker is below its first.
_FIRST, _SECOND, _GATEWAYS_HEALTH, _SECOND_WORKER = 30, 40, 50, -10
SHUTDOWN_DRAIN_SECONDS: Final = "2"
# More than twenty interpreters or containers start on two shared cores.
READY_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class DoubledSystem:
    """A running system, and its balancers by the ports of the instances."""

    system: System
    balancers: Mapping[int, Balancer]

    async def roll(self, *, every: bool, among: Callable[[ProcessPlan], bool] = lambda _: True) -> list[str]:
        """Restart one process after another of those chosen; balancers drain each instance first."""
        loop = asyncio.get_running_loop()

        def before_stop(name: str) -> None:
            port = self.system.process(name).port
            if port in self.balancers:
                asyncio.run_coroutine_threadsafe(self.balancers[port].drain(port), loop).result()

        return await asyncio.to_thread(self.system.roll, every=every, among=among, before_stop=before_stop)

    @contextmanager
    def rolling_by_signal(self) -> Iterator[None]:
        """Handle the signals of `campusctl rotation roll`, as `make run` does."""
        loop = asyncio.get_running_loop()
        rolls: set[asyncio.Task[Any]] = set()

        def start(every: bool) -> None:
            rolls.add(loop.create_task(self.roll(every=every)))

        for number, every in ((signal.SIGUSR1, False), (signal.SIGUSR2, True)):
            loop.add_signal_handler(number, start, every)
        try:
            yield
        finally:
            for number in (signal.SIGUSR1, signal.SIGUSR2):
                loop.remove_signal_handler(number)


@asynccontextmanager
async def doubled_system(
    folder: str,
    environment: Mapping[str, str],
    port_base: int | None = None,
    *,
    servers: Servers | None = None,
    workers: int = 1,
    runtime: Runtime = CHECKOUT,
    inside: InsideTls | None = None,
) -> AsyncIterator[DoubledSystem]:
    """Start a doubled system, and remove it with its databases at the end. Given `servers` run before and after it.
    Its processes serve TLS with the certificates `inside`; the edge in front of them is plain.
    """
    plan, port_base = doubled(CAMPUS, workers), port_base or free_port_base()
    trust = None
    if inside is not None:
        plan, trust = inside.encrypted(plan, port_base), inside_client_tls(str(inside.authorities))
    startup = Startup(runtime, READY_SECONDS)
    system = System(folder, port_base, environment, plan=plan, servers=servers, startup=startup)
    async with AsyncExitStack() as stack:
        balancers: dict[int, Balancer] = {}
        apis = [process for process in plan.processes if process.name[-1].isdigit() and "-worker" not in process.name]
        for offset in sorted({process.port_offset % 10 for process in apis}):
            instances = {
                port_base + process.port_offset: port_base + process.health_offset
                for process in apis
                if process.port_offset % 10 == offset
            }
            balancer = await stack.enter_async_context(
                balanced(port_base + offset, instances, trust, is_edge=trust is not None and offset == 0)
            )
            balancers |= dict.fromkeys(instances, balancer)
        try:
            async with system:
                yield DoubledSystem(system, balancers)
        finally:
            if servers is None:
                system.servers.remove_data()


async def pay_without_kept_connections(market: Marketplace, system: System) -> None:
    """Open a connection per request: the sandbox closes idle connections after seconds, which would fail payments."""
    await market.sandbox.aclose()
    once = httpx.Limits(max_keepalive_connections=0)
    market.sandbox = httpx.AsyncClient(base_url=system.sandbox_url, timeout=30, limits=once, trust_env=False)


def doubled(plan: SystemPlan, workers: int = 1) -> SystemPlan:
    """Two instances of each API process, whose balancer has the original port, and one or two workers; no console."""
    processes: list[ProcessPlan] = []
    for process in plan.processes:
        # No order passes it, and a version before it has none.
        if process.service == "console":
            continue
        if process.service == "sandbox" or process.name.endswith("-worker"):
            processes.append(process)
            if process.service != "sandbox" and workers > 1:
                port = process.port_offset + _SECOND_WORKER
                processes.append(replace(process, name=f"{process.name}-2", port_offset=port, health_offset=port))
            continue
        # As in the manifests.
        settings = {"SHUTDOWN_DRAIN_SECONDS": SHUTDOWN_DRAIN_SECONDS}
        for number, above in enumerate((_FIRST, _SECOND), start=1):
            port = process.port_offset + above
            is_gateway = process.port_offset != process.health_offset
            health = _GATEWAYS_HEALTH + number if is_gateway else port
            processes.append(
                replace(
                    process,
                    name=f"{process.name}-{number}",
                    port_offset=port,
                    health_offset=health,
                    environment=settings,
                )
            )
    return replace(plan, processes=tuple(processes))
