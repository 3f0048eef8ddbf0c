"""A connection to PostgreSQL, with its settings and its codecs."""

import asyncpg
import msgspec

from common.primitives.limits import WaitLimits


async def connect(url: str, name: str, limits: WaitLimits) -> asyncpg.Connection:
    """Open a connection; `name` is shown in pg_stat_activity."""
    connection = await asyncpg.connect(
        url,
        timeout=limits.connection_acquire,
        command_timeout=limits.statement,
        statement_cache_size=512,
        # Every statement has one good plan for all values. By default PostgreSQL replans a LIMIT or an array each
        # time, which takes longer than the execution (docs/performance.md).
        server_settings={"application_name": name, "jit": "off", "plan_cache_mode": "force_generic_plan"},
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
