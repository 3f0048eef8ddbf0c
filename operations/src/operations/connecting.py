"""A connection to PostgreSQL for one task."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg


@asynccontextmanager
async def connected(url: str, *, command_seconds_max: float | None = None) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection that is closed at the end of the block."""
    connection = await asyncpg.connect(url, command_timeout=command_seconds_max)
    try:
        yield connection
    finally:
        await connection.close()
