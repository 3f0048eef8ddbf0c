"""The named faults: each lasts while its context is open."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Final
from urllib.parse import urlsplit

from campus_tools.launcher.system import System
from lab.drills.world import broker_parts
from lab.drills.world.disks import Disk, switch_wal
from lab.drills.world.network import dropped_packets, open_connections, requests_to, responses_from
from lab.drills.world.shim import Shim
from lab.systems import Log

_STEP_SECONDS: Final = 300
_STEPPED_SECONDS: Final = 12.0
_UNREACHABLE_SECONDS: Final = 60.0
_WAL_EVERY_SECONDS: Final = 5.0
_RESTARTED_SECONDS_MAX: Final = 60.0


@dataclass(frozen=True, slots=True)
class World:
    """The parts that a fault can break. `provider_port`: at which only the services reach the sandbox's gateway."""

    system: System
    postgresql: Disk
    rabbitmq: Disk
    clock: Shim
    provider_port: int
    seconds: float
    log: Log

    @property
    def postgresql_port(self) -> int:
        return urlsplit(self.system.servers.database_url).port or 0

    @property
    def rabbitmq_port(self) -> int:
        return urlsplit(self.system.servers.broker_url).port or 0


Fault = Callable[[World], AbstractAsyncContextManager[None]]


def _lasting(open_fault: Fault) -> Fault:
    """Return a fault that lasts for the seconds of the drill."""

    @asynccontextmanager
    async def lasting(world: World) -> AsyncIterator[None]:
        async with open_fault(world):
            await asyncio.sleep(world.seconds)
            yield

    return lasting


def _restarting_broker(open_fault: Fault) -> Fault:
    """Return a fault of the drill's seconds, after which an operator restarts the broker, whose log has ended."""

    @asynccontextmanager
    async def restarting(world: World) -> AsyncIterator[None]:
        async with open_fault(world):
            await asyncio.sleep(world.seconds)
        world.log("restarting the broker (docs/runbooks/broker-alarm.md)")
        await asyncio.to_thread(world.system.servers.rabbitmq.kill)
        await asyncio.to_thread(world.system.servers.rabbitmq.start)
        yield

    return restarting


@asynccontextmanager
async def _full_wal(world: World) -> AsyncIterator[None]:
    """Fill PostgreSQL's disk, and let it need new segments of its WAL."""
    async with world.postgresql.full():
        for _ in range(max(1, round(world.seconds / _WAL_EVERY_SECONDS))):
            await switch_wal(world.system.servers.database_url)
            await asyncio.sleep(_WAL_EVERY_SECONDS)
        yield


@asynccontextmanager
async def _stepped_clock(name: str, world: World) -> AsyncIterator[None]:
    """Step the clock of one process ahead, then behind the machine's, then back."""
    process = world.system.process(name)
    before = await asyncio.to_thread(process.restart_with, world.clock.environment)
    await asyncio.to_thread(process.wait_restarted, before, _RESTARTED_SECONDS_MAX)
    try:
        for seconds in (_STEP_SECONDS, -_STEP_SECONDS):
            world.log(f"{name}: clock {seconds:+d} s")
            world.clock.set(clock_seconds=seconds)
            await asyncio.sleep(_STEPPED_SECONDS)
        yield
    finally:
        world.clock.set()


@asynccontextmanager
async def _forgotten(port: Callable[[World], int], world: World) -> AsyncIterator[None]:
    """Drop all packets of a server for a minute: earlier connections never receive anything again, nor an end."""
    old = open_connections(port(world))
    async with dropped_packets(*old):
        async with dropped_packets(requests_to(port(world)), f"tcp sport {port(world)}"):
            await asyncio.sleep(_UNREACHABLE_SECONDS)
        yield


_CLOCKS: Final = ("payouts-worker", "payments-api", "identity-api", "api-gateway")
_PACKETS: Final[Mapping[str, Fault]] = {
    "database-requests": _lasting(lambda world: dropped_packets(requests_to(world.postgresql_port))),
    "database-answers": _lasting(lambda world: dropped_packets(responses_from(world.postgresql_port))),
    "broker-requests": _lasting(lambda world: dropped_packets(requests_to(world.rabbitmq_port))),
    "broker-answers": _lasting(lambda world: dropped_packets(responses_from(world.rabbitmq_port))),
    "provider-answers": _lasting(lambda world: dropped_packets(responses_from(world.provider_port))),
    "database-forgotten": partial(_forgotten, attrgetter("postgresql_port")),
    "broker-forgotten": partial(_forgotten, attrgetter("rabbitmq_port")),
}
NEED_PACKET_FILTER: Final = frozenset(_PACKETS)
FAULTS: Final[Mapping[str, Fault]] = {
    "postgresql-full": _lasting(lambda world: world.postgresql.full()),
    "postgresql-full-wal": _full_wal,
    "postgresql-fsync": _lasting(lambda world: world.postgresql.failing(syncs=1, writes=0)),
    "postgresql-eio": _lasting(lambda world: world.postgresql.failing()),
    "rabbitmq-full": _restarting_broker(lambda world: world.rabbitmq.full()),
    "rabbitmq-fsync": _restarting_broker(lambda world: world.rabbitmq.failing(syncs=1, writes=0)),
    "rabbitmq-eio": _restarting_broker(lambda world: world.rabbitmq.failing()),
    **{f"clock-{name}": partial(_stepped_clock, name) for name in _CLOCKS},
    **_PACKETS,
    "queue-deleted": _lasting(lambda world: broker_parts.deleted(world.system, world.log, *broker_parts.QUEUE)),
    "exchange-deleted": _lasting(lambda world: broker_parts.deleted(world.system, world.log, *broker_parts.EXCHANGE)),
    "binding-deleted": _lasting(lambda world: broker_parts.deleted(world.system, world.log, *broker_parts.BINDING)),
}
