"""A connection to PostgreSQL, with its settings and its codecs, and a pool of such connections."""

from contextlib import AbstractAsyncContextManager
from typing import Final

import asyncpg
import msgspec

from common.database.connection_pool import ConnectionPool
from common.primitives.database_servers import DatabaseServers
from common.primitives.limits import WaitLimits

# Every statement has one good plan for all values. By default PostgreSQL replans a LIMIT or an array each time, which
# takes longer than the execution (docs/performance.md).
#
# A client whose packets are lost ends without a word. Its session would hold its row locks and its place for the two
# hours after which Linux asks, or while TCP repeats an answer. Here the server asks after 10 s, and ends it after 25 s.
SERVER_SETTINGS: Final = {
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "25000",
}


async def connect(servers: DatabaseServers, name: str, limits: WaitLimits) -> asyncpg.Connection:
    """Open a connection; `name` is shown in pg_stat_activity."""
    connection = await servers.connect(
        timeout=limits.connection_acquire,
        settings={"application_name": name, **SERVER_SETTINGS},
        command_timeout=limits.statement,
        statement_cache_size=512,
    )
    try:
        await connection.set_type_codec(
            "jsonb",
            schema="pg_catalog",
            format="binary",
            encoder=lambda value: b"\x01" + msgspec.json.encode(value),
            decoder=lambda raw: msgspec.json.decode(raw[1:]),
        )
        # JSON that a query builds for a response is passed on as it is.
        await connection.set_type_codec(
            "json",
            schema="pg_catalog",
            format="binary",
            encoder=bytes,
            decoder=msgspec.Raw,
        )
    except BaseException:
        connection.terminate()
        raise
    return connection


def pool_of(
    url: str, name: str, limits: WaitLimits, connections_max: int, *, for_reads: int
) -> AbstractAsyncContextManager[ConnectionPool]:
    """Return a pool of such connections. A URL of SQLAlchemy is accepted."""
    servers = DatabaseServers.of(url)
    return ConnectionPool.opened(lambda: connect(servers, name, limits), connections_max, for_reads=for_reads)
