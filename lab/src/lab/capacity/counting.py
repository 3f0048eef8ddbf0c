"""Counters of a running system: processor time of processes, rows of tables, messages of queues."""

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import httpx
import psutil

from campus_tools.launcher.system import System
from campus_tools.servers.provider import Servers
from lab.bench.cpu import Meter
from lab.capacity.figures import Step, Table
from operations.services import SERVICES

# PostgreSQL reports an idle connection's last transactions within ten seconds, the broker its queues within five.
SETTLE_SECONDS: Final = 11.0
_TUPLE_BYTES: Final = 28
"""The header of a row (24 bytes, aligned) and its pointer in the page (4)."""
_ENTRY_BYTES: Final = 12
"""The header and the pointer of an index entry (8 and 4)."""
_INDEX_FILL: Final = 0.7
"""The fill of the pages of a tree with keys in random order."""

_ROWS = "SELECT relname, n_tup_ins, n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE schemaname = 'public'"
_WIDTHS = """
SELECT c.relname, coalesce(sum(s.avg_width * (1 - s.null_frac)), 0)::float8
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
WHERE n.nspname = 'public' AND c.relkind = 'r' GROUP BY c.relname
"""
# A partial index has a share of the rows, estimated from both row counts after ANALYZE.
_INDEXES = """
SELECT t.relname, i.indexrelid::regclass::text,
       greatest(least(x.reltuples / nullif(greatest(t.reltuples, 1), 0), 1), 0)::float8,
       coalesce((SELECT sum(coalesce(s.avg_width, 16)) FROM unnest(i.indkey) AS key(number)
                 JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = key.number
                 LEFT JOIN pg_stats s ON s.schemaname = 'public' AND s.tablename = t.relname AND s.attname = a.attname), 16)::float8
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = 'public'
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """All counters at one instant."""

    at: float
    cpu_seconds: dict[str, float]
    backends: dict[int, tuple[str, float]]
    """The service and the seconds of each connection's process."""
    commits: dict[str, int]
    tables: dict[str, tuple[int, int]]
    messages: dict[str, int]
    log_position: int


@dataclass(slots=True)
class Counters:
    """Connections to all sources of counters."""

    system: System
    administrator: dict[str, "asyncpg.Connection[Any]"]
    broker: httpx.AsyncClient
    # The processes of the counters' own connections, which are not the system's work.
    _own: set[int]

    @classmethod
    async def open(cls, system: System) -> "Counters":
        opened = {
            service.name: await asyncpg.connect(_database(system.servers, service.database)) for service in SERVICES
        }
        parts = urlsplit(system.servers.management_url)
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
        """Read all counters after their reporting delay. The processor time is read before the delay."""
        cpu, backends, at = self._cpu(), await self._backends(), time.monotonic()
        await asyncio.sleep(SETTLE_SECONDS)
        commits, tables = dict[str, int](), dict[str, tuple[int, int]]()
        for name, connection in self.administrator.items():
            commits[name] = await connection.fetchval(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
            )
            tables |= {f"{name}.{row[0]}": (row[1], row[2]) for row in await connection.fetch(_ROWS)}
        first = next(iter(self.administrator.values()))
        position = await first.fetchval("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")
        queues = (await self.broker.get("/api/queues", params={"disable_stats": "false"})).raise_for_status().json()
        messages = {
            queue["name"]: queue.get("message_stats", {}).get("ack", 0)
            for queue in queues
            if "." in queue["name"] and not queue["name"].startswith("amq.")
        }
        return Reading(at, cpu, backends, commits, tables, messages, int(position))

    async def widths(self) -> dict[str, tuple[float, float]]:
        """Bytes of a row and of its index entries by table, from the statistics of the written rows."""
        found = {}
        for name, connection in self.administrator.items():
            await connection.execute("ANALYZE")
            entries = defaultdict[str, float](float)
            for table, _, share, width in await connection.fetch(_INDEXES):
                entries[table] += share * (_ENTRY_BYTES + width) / _INDEX_FILL
            for table, width in await connection.fetch(_WIDTHS):
                found[f"{name}.{table}"] = (_TUPLE_BYTES + width, entries[table])
        return found

    def _cpu(self) -> dict[str, float]:
        spent = {
            process.name: Meter([process.pid]).seconds()
            for process in self.system.processes
            if process.pid is not None and process.name != "sandbox"
        }
        spent["broker"] = Meter([pid for _, pid, _ in self.system.servers.rabbitmq.places]).seconds()
        spent["postgresql"] = Meter([pid for _, pid, _ in self.system.servers.postgresql.places]).seconds()
        return spent

    async def _backends(self) -> dict[int, tuple[str, float]]:
        first = next(iter(self.administrator.values()))
        known = {service.database: service.name for service in SERVICES}
        rows = await first.fetch("SELECT pid, datname FROM pg_stat_activity WHERE datname IS NOT NULL")
        found = {}
        for pid, database in rows:
            try:
                times = psutil.Process(pid).cpu_times()
            except psutil.NoSuchProcess:
                continue
            name = "" if pid in self._own else known.get(database, "")
            found[pid] = (name, times.user + times.system)
        return found


def cpu_between(before: Reading, after: Reading) -> dict[str, float]:
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


def idle_between(before: Reading, after: Reading) -> Idle:
    """The cost of each second between two readings."""
    lasted = after.at - before.at
    return Idle(
        {name: seconds * 1000 / lasted for name, seconds in cpu_between(before, after).items()},
        {name: (done - before.commits[name]) / lasted for name, done in after.commits.items()},
    )


def step_between(
    before: Reading,
    after: Reading,
    count: int,
    idle: Idle,
    widths: dict[str, tuple[float, float]],
    parts: frozenset[str] | None = None,
) -> Step:
    """The cost of each of `count` steps between two readings; `parts` limits it to the processes of the step.

    For other processes a cheap step would count the noise of their idle time.
    """
    lasted = after.at - before.at
    cpu = {
        name: max(0.0, (seconds * 1000 - idle.cpu_ms.get(name, 0.0) * lasted) / count)
        for name, seconds in cpu_between(before, after).items()
        if parts is None or name in parts
    }
    commits = {
        name: max(0.0, (done - before.commits[name] - idle.commits.get(name, 0.0) * lasted) / count)
        for name, done in after.commits.items()
        if parts is None or f"{name}-db" in parts
    }
    tables = {}
    for name, (inserted, changed) in after.tables.items():
        earlier = before.tables.get(name, (0, 0))
        rows, changes = (inserted - earlier[0]) / count, (changed - earlier[1]) / count
        if rows or changes:
            row_bytes, index_bytes = widths.get(name, (0.0, 0.0))
            tables[name] = Table(round(rows, 3), round(changes, 3), round(row_bytes), round(index_bytes))
    messages = {name: (done - before.messages.get(name, 0)) / count for name, done in after.messages.items()}
    return Step(
        count=count,
        cpu_ms={name: round(spent, 3) for name, spent in cpu.items()},
        commits={name: round(done, 2) for name, done in commits.items()},
        tables=tables,
        messages={name: round(share, 3) for name, share in messages.items() if share},
        log_bytes=round((after.log_position - before.log_position) / count),
    )


def _database(servers: Servers, name: str) -> str:
    return urlsplit(servers.database_url)._replace(path=f"/{name}").geturl()
