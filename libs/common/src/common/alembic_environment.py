"""What every service's `migrations/env.py` does: run the history over asyncpg, as the owner of the database."""

import asyncio
import os
from typing import Any

import sqlalchemy as sa
from alembic import context
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool


def run(metadata: sa.MetaData) -> None:
    """Runs what the alembic command asks for, in one transaction for each migration, under a lock against a second runner."""
    url = os.environ["OWNER_DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://", 1)
    asyncio.run(_run(url, metadata))


async def _run(url: str, metadata: sa.MetaData) -> None:
    engine = create_async_engine(url, poolclass=NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(_migrate, metadata)
        await connection.commit()
    await engine.dispose()


def _migrate(connection: sa.Connection, metadata: sa.MetaData) -> None:
    # Three replicas may start at once on an empty system: the second waits here and finds nothing left to do.
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('migrations'))"))
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_type=True,
        compare_server_default=False,
        include_object=_ours,
    )
    with context.begin_transaction():
        context.run_migrations()


def _ours(_: Any, name: str | None, kind: str, reflected: bool, __: Any) -> bool:
    return not (kind == "table" and name == "alembic_version")
