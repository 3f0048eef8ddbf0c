"""The Alembic environment of all services: runs the migrations over asyncpg, as the owner of the database."""

import asyncio
import os
from pathlib import Path
from typing import Final

import asyncpg
import sqlalchemy as sa
from alembic import context
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations.ops import MigrationScript
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from common.migrations.audit_grants import AUDIT_READS, grant_audit
from common.migrations.schema import create_schema

# A migration that waits for a lock blocks the requests of the old version: this long at most, within client timeouts.
LOCK_SECONDS_MAX: Final = 3
# Two minutes in all; then the roll-out fails and names the statement that did not get its lock.
LOCK_ATTEMPTS_MAX: Final = 24
LOCK_PAUSE_SECONDS: Final = 2.0
# A lock was not available in time, and a deadlock: after locks of its earlier statements a migration may meet one.
_LOCK_ERRORS: Final = frozenset({"55P03", "40P01"})

# The newest commit whose migrations begin with an empty database; later ones begin with its newest revisions
# (decision 129).
LAST_WITH_OLDER_REVISIONS: Final = "031c5b8c35bc"


class UnknownRevision(Exception):
    """The database is at a revision that this version does not have."""


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
            if attempt == LOCK_ATTEMPTS_MAX or getattr(error.orig, "sqlstate", None) not in _LOCK_ERRORS:
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
    context.configure(connection=connection)
    with context.begin_transaction():
        if _is_new():
            # First, so that the service has no right in alembic's own table.
            context.get_context().stamp(context.script, "head")
            create_schema(connection, metadata, Path(context.script.dir) / "sql")
        else:
            context.run_migrations()
        grant_audit(connection, metadata.info.get(AUDIT_READS, ()))


def _is_new() -> bool:
    """Return whether the database has no revision yet.

    Raises:
        UnknownRevision: it has one that is not among the migrations of this version.
    """
    present = context.get_context().get_current_revision()
    known = [script.revision for script in context.script.walk_revisions()]
    if present is None:
        return True
    if present not in known:
        raise UnknownRevision(
            f"The database is at revision {present}; this version has {known[-1]} to {known[0]}. Migrate an older "
            f"database with commit {LAST_WITH_OLDER_REVISIONS} first, and a newer one with the version that it comes "
            "from."
        )
    return False


_PARTITIONS: Final = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"


def difference(connection: sa.Connection, metadata: sa.MetaData) -> MigrationScript:
    """Return alembic's operations from the schema of the database to that of the metadata, and back.

    Alembic compares tables, columns, types, defaults, keys and indexes; neither checks nor what `sql/` has. Monthly
    partitions and alembic's own table are no difference.
    """
    not_ours = {"alembic_version", *connection.scalars(sa.text(_PARTITIONS))}
    options = {
        "compare_type": True,
        "compare_server_default": True,
        "include_name": lambda name, kind, _: not (kind == "table" and name in not_ours),
    }
    return produce_migrations(MigrationContext.configure(connection, opts=options), metadata)
