"""Statements with the rights of the audit's login."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import asyncpg


@asynccontextmanager
async def as_audit(databases: Mapping[str, asyncpg.Connection]) -> AsyncIterator[None]:
    """Read as `campus_audit` over connections of the administrator, also within their transactions."""
    for connection in databases.values():
        await connection.execute("SET ROLE campus_audit")
    try:
        yield
    finally:
        for connection in databases.values():
            await connection.execute("RESET ROLE")
