"""The Alembic environment of all services: runs the migrations over asyncpg, as the owner of the database."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from alembic import context
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations.ops import MigrationScript
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from common.migrations.audit_grants import AUDIT_READS, grant_audit
from common.migrations.schema import create_schema
from common.primitives.database_servers import DatabaseServers

# A migration that waits for a lock blocks the requests of the old version. It gives up before PostgreSQL looks for a
# deadlock, after a second, which would end a request that waits for the migration (decision 230).
LOCK_MILLISECONDS_MAX: Final = 500
# After these attempts it waits longer than that second, because PostgreSQL then ends an autovacuum of the table.
SHORT_ATTEMPTS: Final = 8
LONG_MILLISECONDS_MAX: Final = 1_500
# Two minutes in all; then the roll-out fails and names the statement that did not get its lock.
LOCK_ATTEMPTS_MAX: Final = 40
LOCK_PAUSE_SECONDS: Final = 2.0
# A lock was not available in time, and a deadlock, for a migration that works long under its locks.
_LOCK_ERRORS: Final = frozenset({"55P03", "40P01"})

# The newest commit whose migrations begin with an empty database; later ones begin with its newest revisions
# (decision 129).
LAST_WITH_OLDER_REVISIONS: Final = "031c5b8c35bc"


class UnknownRevision(Exception):
    """The database is at a revision that this version does not have."""


def run(metadata: sa.MetaData) -> None:
    """Run the requested alembic command, one transaction for each revision, under a lock against a concurrent run.

    The command may end between two revisions; a repetition continues there.
    """
    asyncio.run(_run(DatabaseServers.of(os.environ["OWNER_DATABASE_URL"]), metadata))


async def _run(servers: DatabaseServers, metadata: sa.MetaData) -> None:
    engine = create_async_engine("postgresql+asyncpg://", async_creator=servers.connect, poolclass=NullPool)
    async with engine.connect() as connection:
        await _run_when_unlocked(connection, metadata)
    await engine.dispose()


async def _run_when_unlocked(connection: AsyncConnection, metadata: sa.MetaData) -> None:
    failed, done, planned = 0, 0, 1
    while done < planned:
        try:
            found = await connection.run_sync(_migrate_one_revision, metadata, lock_milliseconds(failed))
            await connection.commit()
        except sa.exc.DBAPIError as error:
            failed += 1
            if failed == LOCK_ATTEMPTS_MAX or getattr(error.orig, "sqlstate", None) not in _LOCK_ERRORS:
                raise
            await connection.rollback()
            await asyncio.sleep(LOCK_PAUSE_SECONDS)
        else:
            # A later plan of a command such as `upgrade +2` counts from the revision that is reached by then.
            planned, done = planned if done else found, done + 1


def lock_milliseconds(failed: int) -> int:
    """Return how long a statement waits for a lock after so many failed attempts of the command."""
    return LOCK_MILLISECONDS_MAX if failed < SHORT_ATTEMPTS else LONG_MILLISECONDS_MAX


def _migrate_one_revision(connection: sa.Connection, metadata: sa.MetaData, wait_milliseconds: int) -> int:
    """Run the next revision of the command; return the number of those that it has from here on."""
    # Several replicas may start at once: the second one waits here and finds no migration left.
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('migrations'))"))
    # A statement that waits for a table lock blocks all later ones, so the revision gives up early and is retried.
    connection.execute(sa.text(f"SET LOCAL lock_timeout = '{wait_milliseconds}ms'"))
    context.configure(connection=connection)
    plan, planned = context.get_context().opts["fn"], 0

    def next_revision(revision: object, of: MigrationContext) -> Sequence[object]:
        nonlocal planned
        steps = list(plan(revision, of))
        planned = len(steps)
        return steps[:1]

    context.configure(connection=connection, fn=next_revision)
    with context.begin_transaction():
        if _is_new():
            # First, so that the service has no right in alembic's own table.
            context.get_context().stamp(context.script, "head")
            create_schema(connection, metadata, Path(context.script.dir) / "sql")
        else:
            context.run_migrations()
        grant_audit(connection, metadata.info.get(AUDIT_READS, ()))
    return planned


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
