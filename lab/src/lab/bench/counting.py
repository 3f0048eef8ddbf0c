"""Counters of a running system: processor time of processes, rows of tables, messages of queues."""

import asyncio
import contextlib
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import httpx
import psutil

from lab.bench.cpu import own_seconds, tree_seconds
from lab.systems import RunningSystem
from operations.services import SERVICES

# PostgreSQL reports an idle connection's last transactions within ten seconds, the broker its queues within five.
SETTLE_SECONDS: Final = 11.0
_ROWS = "SELECT relname, n_tup_ins, n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE schemaname = 'public'"


@dataclass(frozen=True, slots=True)
class Changes:
    """The rows of one table written per step, and those updated or deleted."""

    rows: float
    changes: float


@dataclass(frozen=True, slots=True)
class Step:
    """The cost of one step (a purchase, an order, a payout) without idle time."""

    count: int
    cpu_ms: dict[str, float]
    """User and system time by process: `<service>-db`, `postgresql` for what databases share, and `broker`."""
    commits: dict[str, float]
    """Transactions by service."""
    tables: dict[str, Changes]
    """By `<service>.<table>`."""
    messages: dict[str, float]
    """Acknowledged messages by queue."""
    log_bytes: float
    """Write-ahead log (WAL) of all databases."""
    published: float = 0.0
    """Messages that processes published to the broker."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The processor time of all processes at one instant, in seconds."""

    at: float
    cpu_seconds: dict[str, float]
    backends: dict[int, tuple[str, float]]
    """The service and the seconds of each connection's process."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Everything that servers count, at one instant."""

    at: float
    commits: dict[str, int]
    tables: dict[str, tuple[int, int]]
    messages: dict[str, int]
    """Acknowledged messages by queue."""
    published: int
    log_position: int


@dataclass(frozen=True, slots=True)
class Reading:
    """All counters. The processor time is older than the counts, which are reported late."""

    spent: Spent
    counts: Counts


@dataclass(slots=True)
class Counters:
    """Connections to all sources of counters."""

    system: RunningSystem
    administrator: dict[str, "asyncpg.Connection[Any]"]
    """By service. What these connections do is not counted as the system's work, except commits."""
    broker: httpx.AsyncClient
    _own: set[int]

    @classmethod
    async def open(cls, system: RunningSystem) -> "Counters":
        opened = {service.name: await asyncpg.connect(system.database_url(service.database)) for service in SERVICES}
        parts = urlsplit(system.management_url)
        broker = httpx.AsyncClient(
            base_url=f"{parts.scheme}://{parts.hostname}:{parts.port}",
            auth=(parts.username or "", parts.password or ""),
            trust_env=False,
        )
        own = {connection.get_server_pid() for connection in opened.values()}
        return cls(system, opened, broker, own)

    async def close(self) -> None:
        for connection in self.administrator.values():
            await connection.close()
        await self.broker.aclose()

    async def read(self) -> Reading:
        """Read the processor time now, and the counts after their reporting delay."""
        return Reading(await self.spent(), await self.counts())

    async def spent(self) -> Spent:
        """Read the processor time now."""
        pids = {name: pid for name, pid in self.system.pids().items() if name not in ("console", "sandbox")}
        seconds = tree_seconds(pids.values())
        spent = {name: seconds[pid] for name, pid in pids.items()}
        spent["broker"] = spent.pop("rabbitmq") + spent.pop("epmd", 0.0)
        return Spent(time.monotonic(), spent, await self._backends())

    async def counts(self) -> Counts:
        """Read the counts after their reporting delay."""
        await asyncio.sleep(SETTLE_SECONDS)
        commits, tables = dict[str, int](), dict[str, tuple[int, int]]()
        for name, connection in self.administrator.items():
            commits[name] = await connection.fetchval(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
            )
            tables |= {f"{name}.{row[0]}": (row[1], row[2]) for row in await connection.fetch(_ROWS)}
        first = next(iter(self.administrator.values()))
        position = await first.fetchval("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")
        messages = {
            queue["name"]: queue.get("message_stats", {}).get("ack", 0)
            for queue in await self._broker_reports("/api/queues", disable_stats="false")
            if "." in queue["name"] and not queue["name"].startswith("amq.")
        }
        overview = await self._broker_reports("/api/overview")
        published = overview.get("message_stats", {}).get("publish", 0)
        return Counts(time.monotonic(), commits, tables, messages, published, int(position))

    async def _broker_reports(self, path: str, **parameters: str) -> Any:
        return (await self.broker.get(path, params=parameters)).raise_for_status().json()

    async def _backends(self) -> dict[int, tuple[str, float]]:
        first = next(iter(self.administrator.values()))
        known = {service.database: service.name for service in SERVICES}
        rows = await first.fetch("SELECT pid, datname FROM pg_stat_activity WHERE datname IS NOT NULL")
        found = {}
        for pid, database in rows:
            with contextlib.suppress(psutil.NoSuchProcess):
                found[pid] = ("" if pid in self._own else known.get(database, ""), own_seconds(pid))
        return found


def cpu_between(before: Spent, after: Spent) -> dict[str, float]:
    """Seconds of processor time by process, and by service's database; `postgresql` has the rest of the server."""
    spent = {name: after.cpu_seconds[name] - before.cpu_seconds[name] for name in before.cpu_seconds}
    databases, own = defaultdict[str, float](float), 0.0
    for pid, (service, seconds) in after.backends.items():
        more = seconds - before.backends.get(pid, ("", 0.0))[1]
        if service:
            databases[f"{service}-db"] += more
        else:
            own += more
    spent["postgresql"] = max(0.0, spent["postgresql"] - sum(databases.values()) - own)
    return spent | dict(databases)


@dataclass(frozen=True, slots=True)
class Idle:
    """The cost of a second without requests."""

    cpu_ms: dict[str, float]
    commits: dict[str, float]


def cpu_of_a_second(before: Spent, after: Spent) -> dict[str, float]:
    """Milliseconds of processor time of each second between two readings."""
    lasted = after.at - before.at
    return {name: seconds * 1000 / lasted for name, seconds in cpu_between(before, after).items()}


def idle_between(before: Reading, after: Reading) -> Idle:
    """Return the cost of each second between two readings."""
    counted = after.counts.at - before.counts.at
    return Idle(
        cpu_of_a_second(before.spent, after.spent),
        {name: (done - before.counts.commits[name]) / counted for name, done in after.counts.commits.items()},
    )


def step_between(before: Reading, after: Reading, count: int, idle: Idle) -> Step:
    """Return the cost of each of `count` steps between two readings."""
    lasted, counted = after.spent.at - before.spent.at, after.counts.at - before.counts.at
    cpu = {
        name: max(0.0, (seconds * 1000 - idle.cpu_ms.get(name, 0.0) * lasted) / count)
        for name, seconds in cpu_between(before.spent, after.spent).items()
    }
    commits = {
        name: max(0.0, (done - before.counts.commits[name] - idle.commits.get(name, 0.0) * counted) / count)
        for name, done in after.counts.commits.items()
    }
    tables = {}
    for name, (inserted, changed) in after.counts.tables.items():
        earlier = before.counts.tables.get(name, (0, 0))
        rows, changes = (inserted - earlier[0]) / count, (changed - earlier[1]) / count
        if rows or changes:
            tables[name] = Changes(round(rows, 3), round(changes, 3))
    messages = {
        name: (done - before.counts.messages.get(name, 0)) / count for name, done in after.counts.messages.items()
    }
    return Step(
        count=count,
        cpu_ms={name: round(spent, 3) for name, spent in cpu.items()},
        commits={name: round(done, 2) for name, done in commits.items()},
        tables=tables,
        messages={name: round(share, 3) for name, share in messages.items() if share},
        published=round((after.counts.published - before.counts.published) / count, 3),
        log_bytes=round((after.counts.log_position - before.counts.log_position) / count),
    )
