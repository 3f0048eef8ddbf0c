"""The PostgreSQL cluster of this machine, as its administrator sees it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import asyncpg

from operations.backup.errors import BackupFailed
from operations.backup.pgbackrest import Server
from operations.backup.settings import BackupSettings

_ARCHIVER: Final = """
SELECT archived_count, failed_count, last_archived_time, last_failed_time,
       coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS is_failing
FROM pg_stat_archiver
"""


# A server process of PostgreSQL, such as autovacuum, has no backend_type of a client.
_HEALTH: Final = """
SELECT coalesce(max(extract(epoch FROM now() - xact_start)) FILTER (WHERE state <> 'idle'), 0)::float8
           AS transaction_seconds,
       coalesce(max(extract(epoch FROM now() - state_change)) FILTER (WHERE state ~ '^idle in transaction'), 0)::float8
           AS idle_in_transaction_seconds,
       coalesce(max(extract(epoch FROM now() - query_start)) FILTER (WHERE wait_event_type = 'Lock'), 0)::float8
           AS lock_wait_seconds,
       (SELECT max(age(datfrozenxid)) FROM pg_database)::float8 AS transaction_id_age
FROM pg_stat_activity
WHERE backend_type = 'client backend'
"""


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """The oldest transaction, idle transaction and wait for a lock in seconds, and the age of the oldest unfrozen
    transaction id, of two billion that exist.
    """

    transaction_seconds: float
    idle_in_transaction_seconds: float
    lock_wait_seconds: float
    transaction_id_age: float


@dataclass(frozen=True, slots=True)
class Archiving:
    """PostgreSQL's own count of archived segments of WAL, and of failed attempts."""

    archived_count: int
    failed_count: int
    last_archived_at: datetime | None
    last_failed_at: datetime | None
    is_failing: bool


@asynccontextmanager
async def connected(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection of the administrator. Raises BackupFailed; the address holds a password and is not named."""
    if not database_url:
        raise BackupFailed("DATABASE_URL is not set.", "Set it, or STATE_DIR to the folder of secrets.env.")
    try:
        connection = await asyncpg.connect(database_url, timeout=10)
    except (OSError, asyncpg.PostgresError, ValueError) as error:
        detail = f"PostgreSQL is unreachable: {type(error).__name__}."
        advice = "Is it running? DATABASE_URL names it and its administrator."
        raise BackupFailed(detail, advice, is_unreachable=True) from None
    try:
        yield connection
    finally:
        await connection.close()


async def inspect(database_url: str) -> Server:
    """Return the running server of this machine. Raises BackupFailed also where it has no Unix socket."""
    async with connected(database_url) as connection:
        names = ("data_directory", "unix_socket_directories", "port", "archive_mode", "archive_command")
        shown = {name: await connection.fetchval(f"SHOW {name}") for name in names}
        version = connection.get_server_version().major
    sockets = [folder.strip() for folder in shown["unix_socket_directories"].split(",") if folder.strip()]
    if not sockets:
        advice = "Set unix_socket_directories in postgresql.conf, and restart it."
        raise BackupFailed("PostgreSQL has no Unix socket, by which pgBackRest connects.", advice)
    return Server(
        Path(shown["data_directory"]),
        sockets[0],
        int(shown["port"]),
        version,
        shown["archive_mode"],
        shown["archive_command"],
    )


async def read_archiving(database_url: str) -> Archiving:
    async with connected(database_url) as connection:
        (row,) = await connection.fetch(_ARCHIVER)
    return Archiving(*row.values())


async def read_health(database_url: str) -> DatabaseHealth:
    """Return the state of the cluster's sessions. Raises BackupFailed where it is unreachable."""
    async with connected(database_url) as connection:
        (row,) = await connection.fetch(_HEALTH)
    return DatabaseHealth(*row.values())


async def set_archiving(settings: BackupSettings) -> None:
    """Set PostgreSQL's archiving. `archive_mode` takes effect at its next start, the others at once."""
    values = {
        "archive_mode": "on",
        "archive_command": settings.archive_command,
        "archive_timeout": str(settings.archive_seconds),
    }
    async with connected(settings.database_url) as connection:
        for name, text in values.items():
            quoted = text.replace("'", "''")
            await connection.execute(f"ALTER SYSTEM SET {name} = '{quoted}'")
        await connection.execute("SELECT pg_reload_conf()")
