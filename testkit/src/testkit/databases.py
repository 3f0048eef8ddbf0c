"""The databases of a test session: cloned from a migrated template, reset after a test, and lent again.

Most of a test's time was the making, connecting to and dropping of its database. A lent database keeps the connections
of the service that was opened on it, with their prepared statements. It is dropped instead of reset when its test
changed the schema, or when the server's administrator is not a superuser.
"""

import asyncio
import io
import os
import subprocess
import sys
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from common.database.connecting import connect
from common.database.connection_pool import ConnectionPool
from common.database.unit_of_work import CONNECTIONS_FOR_READS, POOL_CONNECTIONS_MAX, Database
from common.primitives.database_servers import DatabaseServers
from common.primitives.limits import WaitLimits
from operations.connecting import connected
from operations.provision import create_database, service_database_urls
from operations.services import Service, service_named
from operations.waiting import WAIT_SECONDS_MAX as WAIT_SECONDS_MAX

# A service in a test shares one event loop with its clients and with all that it calls, and a busy machine gives that
# loop a tenth of its time: a step of milliseconds is late there although every server is available.
PATIENT = WaitLimits(*[WAIT_SECONDS_MAX] * 5)
# Each reset leaves dead rows behind, which the next tests read past.
LOANS_MAX: Final = 100
# A schema is unchanged while none of these has a new, changed or removed row.
_CATALOGS: Final = (
    *("attrdef", "attribute", "class", "constraint", "database", "db_role_setting", "default_acl", "event_trigger"),
    *("extension", "index", "inherits", "policy", "proc", "publication", "rewrite", "sequence", "trigger", "type"),
)
_OF_THIS_DATABASE: Final = {
    "database": "WHERE datname = current_database()",
    "db_role_setting": "JOIN pg_database d ON d.oid = setdatabase WHERE datname = current_database()",
}
_TABLES: Final = """
SELECT c.oid::regclass::text AS name, n.nspname AS schema, c.relname AS relation,
       array(SELECT attname::text FROM pg_attribute a
             WHERE a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
             ORDER BY attnum) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY c.oid
"""
_OTHERS: Final = """
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_END_OTHERS: Final = f"SELECT pg_terminate_backend(pid, 30000) {_OTHERS} AND pid <> ALL($1::int[])"


class LentConnections:
    """The pools of the service on a lent database. They stay open from one test to the next."""

    def __init__(self) -> None:
        self._idle: tuple[ConnectionPool, ConnectionPool] | None = None
        self._opened: list[asyncpg.Connection] = []

    @asynccontextmanager
    async def database(self, urls: "DatabaseUrls") -> AsyncIterator[Database]:
        """Yield the idle pools, else new ones; a service that is opened beside another has its own."""
        async with AsyncExitStack() as stack:
            pools, self._idle = self._idle or (self._pool(urls.api), self._pool(urls.service)), None
            for pool in pools:
                stack.push_async_callback(pool.close)
                # The test begins with one open connection of each, as a process does.
                async with pool.connection(timeout=WAIT_SECONDS_MAX):
                    pass
            yield Database(api=pools[0], service=pools[1], limits=PATIENT)
            if self._idle is None and all(pool.size == pool.idle_size > 0 for pool in pools):
                self._idle = pools
                stack.pop_all()

    def process_ids(self) -> list[int]:
        """Return PostgreSQL's processes of the open connections."""
        self._opened = [connection for connection in self._opened if not connection.is_closed()]
        return [connection.get_server_pid() for connection in self._opened]

    async def close(self) -> None:
        for pool in self._idle or ():
            await pool.close()
        self._idle = None

    def _pool(self, url: str) -> ConnectionPool:
        async def open_connection() -> asyncpg.Connection:
            connection = await connect(DatabaseServers.of(url), "test", PATIENT)
            self._opened.append(connection)
            return connection

        return ConnectionPool(open_connection, POOL_CONNECTIONS_MAX, for_reads=CONNECTIONS_FOR_READS)


@dataclass(frozen=True)
class DatabaseUrls:
    """One database of a test, under each of its three roles."""

    name: str
    owner: str
    """Owns the database; migrations run with it."""
    api: str
    """Held by row-level security."""
    service: str
    """Passes row-level security."""
    admin: str
    """The server's administrator, in this database."""
    connections: LentConnections = field(default_factory=LentConnections, repr=False, compare=False)
    """Those of the service that is opened on it."""


@dataclass(frozen=True)
class _Table:
    name: str
    schema: str
    relation: str
    columns: list[str]
    row_count: int
    rows: bytes
    """Its rows after the migrations, as COPY writes them."""


class _Snapshot:
    """A migrated database as it was before its first test, to which it is reset."""

    def __init__(self, connection: asyncpg.Connection, tables: list[_Table], sequences: str, first: int) -> None:
        self._connection = connection
        self._tables = tables
        self._sequences = sequences
        # Whatever a test changes has a younger transaction than the snapshot; a row, than the last restore.
        self._first = first
        self._restored = first
        self._schema: list[list[int]] = []

    @classmethod
    async def created(cls, admin_url: str) -> Self | None:
        """Return the snapshot of a database that no one uses yet; None without a superuser, who alone can reset it."""
        connection = await asyncpg.connect(admin_url, statement_cache_size=1000)
        if connection.get_settings().is_superuser != "on":
            await connection.close()
            return None
        first = int(await connection.fetchval("SELECT pg_current_xact_id()::xid"))
        tables = []
        for row in await connection.fetch(_TABLES):
            rows = io.BytesIO()
            status = await connection.copy_from_table(
                row["relation"], schema_name=row["schema"], columns=row["columns"], output=rows, format="binary"
            )
            tables.append(_Table(**row, row_count=int(status.split()[-1]), rows=rows.getvalue()))
        sequences = ", ".join(
            [
                f"setval('{row['name']}', {row['last_value'] or row['start_value']}, {row['last_value'] is not None})"
                for row in await connection.fetch(
                    "SELECT format('%I.%I', schemaname, sequencename) AS name, last_value, start_value FROM "
                    "pg_sequences"
                )
            ]
        )
        # No trigger runs and no foreign key is checked.
        await connection.execute("SET session_replication_role = replica")
        snapshot = cls(connection, tables, sequences, first)
        snapshot._schema = await snapshot._read_schema()
        return snapshot

    async def restore(self, kept: list[int]) -> bool:
        """Undo what a test did to the rows, and end its connections except `kept`.

        Return False where that is not all that it did, or it closed the connection of the snapshot.
        """
        try:
            return await self._restore(kept)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            return False

    async def _restore(self, kept: list[int]) -> bool:
        await self._connection.fetch(_END_OTHERS, kept)
        idle = await self._connection.fetchval(f"SELECT count(*) {_OTHERS} AND state = 'idle'")
        if idle != len(kept) or await self._read_schema() != self._schema:
            return False
        tables = await self._changed_tables()
        async with self._connection.transaction():
            statements = [f"DELETE FROM {table.name}" for table in tables]
            await self._connection.execute("; ".join([*statements, f"SELECT {self._sequences}"]))
            self._restored = await self._connection.fetchval("SELECT pg_current_xact_id()::xid")
            for table in tables:
                if table.row_count:
                    await self._connection.copy_to_table(
                        table.relation,
                        schema_name=table.schema,
                        columns=table.columns,
                        source=io.BytesIO(table.rows),
                        format="binary",
                    )
        return True

    async def close(self) -> None:
        await self._connection.close()

    async def _read_schema(self) -> list[list[int]]:
        """Return the counts of all rows and of younger ones of each catalog."""
        younger = "CASE WHEN age(c.xmin) < (SELECT age($1::xid)) THEN 1 END"
        counts = [
            f"(SELECT ARRAY[count(*), count({younger})] FROM pg_{name} c {_OF_THIS_DATABASE.get(name, '')})"
            for name in _CATALOGS
        ]
        found: list[list[int]] = await self._connection.fetchval(f"SELECT ARRAY[{', '.join(counts)}]", self._first)
        return found

    async def _changed_tables(self) -> list[_Table]:
        changed = [
            f"(SELECT count(*) FILTER (WHERE age(xmin) >= (SELECT age($1::xid))) <> {table.row_count} "
            f"OR count(*) <> {table.row_count} FROM {table.name})"
            if table.row_count
            else f"EXISTS (SELECT FROM {table.name})"
            for table in self._tables
        ]
        found = await self._connection.fetchval(f"SELECT ARRAY[{', '.join(changed)}]", self._restored)
        return [table for table, is_changed in zip(self._tables, found, strict=True) if is_changed]


@dataclass
class _Lent:
    urls: DatabaseUrls
    snapshot: _Snapshot | None
    loans: int = 0


class Databases:
    """Lends the databases of a session, each cloned from the template of its service, which is migrated once."""

    def __init__(self, admin_url: str, run: str, passwords: dict[str, str]) -> None:
        """`run`: the same for all workers of one run, which share the templates."""
        self._admin_url = admin_url
        self._run = run
        self._passwords = passwords
        self._session = uuid.uuid4().hex[:8]
        self._templates: dict[str, str] = {}
        self._made = 0
        self._one_at_a_time = asyncio.Lock()
        self._idle: defaultdict[str, list[_Lent]] = defaultdict(list)

    @asynccontextmanager
    async def lending(self) -> AsyncIterator[Callable[[str], Awaitable[DatabaseUrls]]]:
        """Yield a function that lends a migrated database of a service; all are reset at the end."""
        lent: list[tuple[str, _Lent]] = []

        async def lend(service: str) -> DatabaseUrls:
            database = self._idle[service].pop() if self._idle[service] else await self._cloned(service_named(service))
            lent.append((service, database))
            return database.urls

        yield lend
        for service, database in lent:
            await self._reset(service, database)

    @asynccontextmanager
    async def creating(self) -> AsyncIterator[Callable[[], Awaitable[DatabaseUrls]]]:
        """Yield a function that creates a database without tables; all are dropped at the end."""
        created: list[_Lent] = []

        async def create() -> DatabaseUrls:
            service = service_named("orders")  # Whose roles they are makes no difference for the mechanisms.
            urls = self._urls(service, self._next_name("empty"))
            created.append(_Lent(urls, snapshot=None))
            await self._create(service, urls.name)
            return urls

        yield create
        for database in created:
            await self._discard(database)

    async def close(self, *, with_templates: bool) -> None:
        """Drop the idle databases, and the templates unless other processes of the run need them."""
        for database in (database for idle in self._idle.values() for database in idle):
            await self._discard(database)
        for name in self._templates.values() if with_templates else ():
            await self._drop(name)

    async def _reset(self, service: str, database: _Lent) -> None:
        database.loans += 1
        kept = database.urls.connections.process_ids()
        if database.snapshot and database.loans < LOANS_MAX and await database.snapshot.restore(kept):
            self._idle[service].append(database)
        else:
            await self._discard(database)

    async def _discard(self, database: _Lent) -> None:
        await database.urls.connections.close()
        if database.snapshot:
            await database.snapshot.close()
        await self._drop(database.urls.name)

    async def _cloned(self, service: Service) -> _Lent:
        async with self._one_at_a_time:
            if service.name not in self._templates:
                self._templates[service.name] = await self._migrated_template(service)
            name = self._next_name(service.import_name)
            template = self._templates[service.name]
            # A copy of the files needs half the time of a copy through the WAL.
            await self._execute(
                f'CREATE DATABASE "{name}" TEMPLATE "{template}" OWNER {service.owner_role} STRATEGY FILE_COPY'
            )
        urls = self._urls(service, name)
        return _Lent(urls, await _Snapshot.created(urls.admin))

    async def _migrated_template(self, service: Service) -> str:
        name = f"template_{service.import_name}_{self._run}"
        async with alone(self._admin_url, name) as connection:
            if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", name):
                await self._migrate(service, name)
        return name

    async def _migrate(self, service: Service, name: str) -> None:
        await self._create(service, name)
        environment = {**os.environ, "OWNER_DATABASE_URL": self._urls(service, name).owner}
        migrated = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", service.import_name, "migrate"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if migrated.returncode != 0:
            await self._drop(name)
            raise RuntimeError(
                f"`python -m {service.import_name} migrate` failed with code {migrated.returncode}:\n"
                f"{migrated.stdout}{migrated.stderr}"
            )

    def _urls(self, service: Service, name: str) -> DatabaseUrls:
        owner, api, acting = service_database_urls(self._admin_url, service, self._passwords, name).values()
        parts = urlsplit(self._admin_url)
        return DatabaseUrls(name, owner, api, acting, urlunsplit(parts._replace(path=f"/{name}")))

    async def _create(self, service: Service, name: str) -> None:
        async with connected(self._admin_url) as connection:
            await create_database(connection, service, name)

    async def _drop(self, name: str) -> None:
        await self._execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    async def _execute(self, command: str) -> None:
        async with connected(self._admin_url) as connection:
            await connection.execute(command)

    def _next_name(self, kind: str) -> str:
        self._made += 1
        return f"test_{kind}_{self._session}_{self._made}"


@asynccontextmanager
async def alone(admin_url: str, what: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection of the administrator under a lock, which ends with it: workers share one server."""
    async with connected(admin_url) as connection:
        await connection.execute("SELECT pg_advisory_lock(hashtext($1))", what)
        yield connection
