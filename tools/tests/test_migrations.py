"""Every migration of every service upgrades, downgrades as far as it permits, and upgrades again, to the schema of the code's tables."""

import asyncio
import importlib
import shutil
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from common.migrations.alembic_environment import names_of_ours
from common.migrations.runner import migrations_folder
from operations.services import SERVICES
from testkit.fixtures import DatabaseFactory, DatabaseUrls, eventually

# The parts of a schema, without the order of its columns.
CATALOG = {
    "columns": "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns "
    "WHERE table_schema = 'public'",
    # A restored older constraint is not checked against newer rows.
    "constraints": "SELECT conrelid::regclass::text, conname, replace(pg_get_constraintdef(oid), ' NOT VALID', '') FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "policies": "SELECT tablename, policyname, cmd, roles::text, qual, with_check FROM pg_policies",
    "row security": "SELECT relname, relkind::text, relrowsecurity FROM pg_class WHERE relnamespace = 'public'::regnamespace "
    "AND relkind IN ('r', 'v', 'm', 'S')",
    "grants on tables": "SELECT table_name, grantee, privilege_type FROM information_schema.role_table_grants "
    "WHERE table_schema = 'public'",
    "grants on columns": "SELECT table_name, column_name, grantee, privilege_type FROM information_schema.role_column_grants "
    "WHERE table_schema = 'public'",
    "functions": "SELECT oid::regprocedure::text, prosrc, proacl::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "triggers": "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
}


async def schema_of(urls: DatabaseUrls) -> dict[str, set[tuple[Any, ...]]]:
    connection = await asyncpg.connect(urls.admin)
    try:
        return {
            name: {tuple(row) for row in await connection.fetch(statement) if row[0] != "alembic_version"}
            for name, statement in CATALOG.items()
        }
    finally:
        await connection.close()


async def differences_from_the_code(urls: DatabaseUrls, metadata: sa.MetaData) -> list[Any]:
    engine = create_async_engine(urls.owner.replace("postgresql://", "postgresql+asyncpg://", 1), poolclass=NullPool)

    def differences(connection: sa.Connection) -> list[Any]:
        options = {"compare_type": True, "include_name": names_of_ours(connection)}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    async with engine.connect() as connection:
        found = await connection.run_sync(differences)
    await engine.dispose()
    return found


async def revision_of(urls: DatabaseUrls) -> str | None:
    connection = await asyncpg.connect(urls.owner)
    try:
        revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
        return revision
    finally:
        await connection.close()


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
async def test_every_migration_goes_up_down_and_up_again(
    service: Any, fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = await fresh_database(service.name)
    # As the address of a managed database has it.
    monkeypatch.setenv("OWNER_DATABASE_URL", f"{urls.owner}?sslmode=prefer")
    config = Config()
    config.set_main_option("script_location", str(migrations_folder(service.import_name)))
    history = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    metadata = importlib.import_module(f"{service.import_name}.tables").metadata
    assert await revision_of(urls) == history[0]
    newest = await schema_of(urls)
    assert await differences_from_the_code(urls, metadata) == []

    on_the_way_down = {history[0]: newest}
    for revision, below in zip(history, [*history[1:], None], strict=True):
        try:
            await asyncio.to_thread(command.downgrade, config, below or "base")
        except NotImplementedError:
            # A first migration may refuse; then nothing of it is undone, and nothing newer may refuse.
            assert below is None
            assert await revision_of(urls) == revision
            break
        assert await revision_of(urls) == below
        if below is not None:
            on_the_way_down[below] = await schema_of(urls)

    for revision in reversed(history):
        await asyncio.to_thread(command.upgrade, config, revision)
        assert await revision_of(urls) == revision
        found = await schema_of(urls)
        for part, seen in on_the_way_down[revision].items():
            assert found[part] ^ seen == set(), f"{part} of {revision}"
    assert await differences_from_the_code(urls, metadata) == []


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


NEXT_REVISION = """
from alembic import op

revision = "9999"
down_revision = {newest!r}


def upgrade() -> None:
    op.execute("ALTER TABLE wallets ADD COLUMN note text")
"""


async def test_a_migration_gives_way_to_the_holder_of_a_table_and_ends_when_the_lock_is_released(
    fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    urls = await fresh_database("payouts")
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    folder = tmp_path / "migrations"
    shutil.copytree(migrations_folder("payouts"), folder)
    (folder / "versions" / "9999_next.py").write_text(NEXT_REVISION.format(newest=await revision_of(urls)))
    config = Config()
    config.set_main_option("script_location", str(folder))
    holder, watcher = await asyncpg.connect(urls.owner), await asyncpg.connect(urls.admin)

    async def waits(expected: bool) -> bool:
        return bool(await watcher.fetchval(WAITING)) is expected

    try:
        await holder.execute("BEGIN; LOCK TABLE wallets IN SHARE MODE")
        migrating = asyncio.create_task(asyncio.to_thread(command.upgrade, config, "head"))
        await eventually(lambda: waits(True))
        # No other transaction waits for the migration any more, and it has not failed.
        await eventually(lambda: waits(False))
        assert not migrating.done()
        await holder.execute("COMMIT")
        await migrating
    finally:
        await holder.close()
        await watcher.close()
    assert await revision_of(urls) == "9999"
