"""The Alembic environment of all services: runs the migrations over asyncpg, as the owner of the database."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, Final

import asyncpg
import sqlalchemy as sa
from alembic import context
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from common.migrations.audit_grants import AUDIT_READS, grant_audit

# A migration that waits for a lock blocks the requests of the old version: this long at most, within client timeouts.
LOCK_SECONDS_MAX: Final = 3
# Two minutes in all; then the roll-out fails and names the statement that did not get its lock.
LOCK_ATTEMPTS_MAX: Final = 24
LOCK_PAUSE_SECONDS: Final = 2.0
_LOCK_NOT_AVAILABLE: Final = "55P03"


def run(metadata: sa.MetaData) -> None:
    """Run the requested alembic command in one transaction, under a lock against a concurrent run."""
    asyncio.run(_run(os.environ["OWNER_DATABASE_URL"].replace("postgresql+asyncpg://", "postgresql://", 1), metadata))


async def _run(url: str, metadata: sa.MetaData) -> None:
    # asyncpg reads the address itself: SQLAlchemy's form of several servers differs from the one of PostgreSQL.
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url), poolclass=NullPool
    )
    async with engine.connect() as connection:
        await _run_when_unlocked(connection, metadata)
    await engine.dispose()


async def _run_when_unlocked(connection: AsyncConnection, metadata: sa.MetaData) -> None:
    for attempt in range(1, LOCK_ATTEMPTS_MAX + 1):
        try:
            await connection.run_sync(_migrate, metadata)
            await connection.commit()
        except sa.exc.DBAPIError as error:
            if attempt == LOCK_ATTEMPTS_MAX or getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
            await connection.rollback()
            await asyncio.sleep(LOCK_PAUSE_SECONDS)
        else:
            return


def _migrate(connection: sa.Connection, metadata: sa.MetaData) -> None:
    # Several replicas may start at once: the second one waits here and finds no migration left.
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('migrations'))"))
    # A statement that waits for a table lock blocks all later ones, so the migration gives up early and is retried
    # whole.
    connection.execute(sa.text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS_MAX}s'"))
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_type=True,
        compare_server_default=False,
        include_name=names_of_ours(connection),
    )
    with context.begin_transaction():
        context.run_migrations()
        grant_audit(connection, metadata.info.get(AUDIT_READS, ()))


_PARTITIONS = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"


def names_of_ours(connection: sa.Connection) -> Callable[[str | None, str, Any], bool]:
    """Return the filter of tables that `alembic check` compares: without alembic's own table and without monthly
    partitions.
    """
    not_ours = {"alembic_version", *connection.scalars(sa.text(_PARTITIONS))}
    return lambda name, kind, _: not (kind == "table" and name in not_ours)
