"""A database is created from the code's tables and SQL, or upgraded by migrations; both give the same schema."""

import asyncio
import importlib
import os
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.operations.ops import MigrationScript
from alembic.script import ScriptDirectory

from campus_tools.documents.schema import comparable, digest_of, schema_sql
from campus_tools.new_migration import difference_of, write_migration
from common.migrations.alembic_environment import LAST_WITH_OLDER_REVISIONS, LOCK_ATTEMPTS_MAX, lock_milliseconds
from common.migrations.runner import migrate, migrations_folder
from operations.connecting import connected
from operations.services import SERVICES
from testkit.fixtures import DatabaseFactory, DatabaseUrls, EmptyDatabaseFactory, eventually


async def schema_of(urls: DatabaseUrls) -> str:
    async with connected(urls.admin) as connection:
        return await schema_sql(connection, "the owner")


async def revision_of(urls: DatabaseUrls) -> str | None:
    async with connected(urls.owner) as connection:
        revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
        return revision


async def set_revision(urls: DatabaseUrls, revision: str) -> None:
    connection = await asyncpg.connect(urls.owner)
    await connection.execute("UPDATE alembic_version SET version_num = $1", revision)
    await connection.close()


def operations_of(script: MigrationScript) -> list[Any]:
    assert script.upgrade_ops is not None
    return list(script.upgrade_ops.as_diffs())


def metadata_of(service: Any) -> sa.MetaData:
    metadata: sa.MetaData = importlib.import_module(f"{service.import_name}.tables").metadata
    return metadata


def config_of(folder: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(folder))
    return config


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
async def test_a_created_database_is_at_the_newest_revision_without_a_difference(
    service: Any, fresh_database: DatabaseFactory
) -> None:
    urls = await fresh_database(service.name)
    scripts = ScriptDirectory(str(migrations_folder(service.import_name)))
    assert await revision_of(urls) == scripts.get_current_head()
    assert operations_of(await difference_of(urls.owner, metadata_of(service))) == []


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
async def test_every_migration_goes_down_to_the_first_schema_and_up_again(
    service: Any, fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = await fresh_database(service.name)
    # As the address of a managed database has it.
    monkeypatch.setenv("OWNER_DATABASE_URL", f"{urls.owner}?sslmode=prefer")
    config = config_of(migrations_folder(service.import_name))
    [*later, first] = ScriptDirectory.from_config(config).walk_revisions()
    on_the_way_down = {first.revision: "", **{script.revision: "" for script in later}}
    for script in later:
        on_the_way_down[script.revision] = await schema_of(urls)
        await asyncio.to_thread(command.downgrade, config, script.down_revision)
    # A change of the tables or of their SQL that no migration has would be left over here.
    found = await schema_of(urls)
    assert digest_of(found) == first.module.schema_digest, "add a migration: make migration S=... M='...'"

    for script in reversed(later):
        await asyncio.to_thread(command.upgrade, config, script.revision)
        assert comparable(await schema_of(urls)) == comparable(on_the_way_down[script.revision])


CHANGED_TABLES = """
import sqlalchemy as sa
from common.migrations import alembic_environment
from {package}.tables import metadata

changed = sa.MetaData(info=metadata.info)
for table in metadata.tables.values():
    table.to_metadata(changed)
changed.tables["outbox"].append_column(sa.Column("note", sa.Text, nullable=False, server_default=sa.text("''")))
sa.Index("outbox_noted", changed.tables["outbox"].c.note)
sa.Table("notes", changed, sa.Column("id", sa.Uuid, primary_key=True), sa.Column("text", sa.Text, nullable=False))
"""
RUN = "alembic_environment.run(changed)\n"


async def test_a_written_migration_gives_an_older_database_the_schema_of_an_empty_one(
    fresh_database: DatabaseFactory,
    empty_database: EmptyDatabaseFactory,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(migrations_folder("orders"), folder)
    (folder / "env.py").write_text(CHANGED_TABLES.format(package="orders") + RUN)
    names: dict[str, Any] = {}
    exec(CHANGED_TABLES.format(package="orders"), names)
    older, new = await fresh_database("orders"), await empty_database()
    path = write_migration(folder, "add notes", await difference_of(older.owner, names["changed"]))
    assert path.name.endswith("_add_notes.py")
    for urls in (older, new):
        monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
        await asyncio.to_thread(command.upgrade, config_of(folder), "head")
        assert await revision_of(urls) == path.name[:4]
    assert comparable(await schema_of(new)) == comparable(await schema_of(older))
    assert operations_of(await difference_of(older.owner, names["changed"])) == []
    monkeypatch.setenv("OWNER_DATABASE_URL", older.owner)
    await asyncio.to_thread(command.downgrade, config_of(folder), "-1")
    assert comparable(await schema_of(older)) == comparable((folder / "schema.sql").read_text())


async def test_three_migrations_of_an_empty_database_at_once_all_succeed(empty_database: EmptyDatabaseFactory) -> None:
    urls = await empty_database()
    command_line = (sys.executable, "-m", "payouts", "migrate")
    environment = {**os.environ, "OWNER_DATABASE_URL": urls.owner}
    processes = [await asyncio.create_subprocess_exec(*command_line, env=environment) for _ in range(3)]
    assert [await process.wait() for process in processes] == [0, 0, 0]
    assert await revision_of(urls) == ScriptDirectory(str(migrations_folder("payouts"))).get_current_head()


@pytest.mark.parametrize("revision", ["0001", "9999"])
async def test_a_database_at_an_unknown_revision_is_left_as_it_is(
    revision: str,
    fresh_database: DatabaseFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    urls = await fresh_database("orders")
    await set_revision(urls, revision)
    before = await schema_of(urls)
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    with pytest.raises(SystemExit) as exit_:
        await asyncio.to_thread(migrate, "orders")
    assert exit_.value.code == 78
    message = capsys.readouterr().err
    assert f"at revision {revision};" in message
    assert LAST_WITH_OLDER_REVISIONS in message
    assert (await schema_of(urls), await revision_of(urls)) == (before, revision)


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


NOTE_PAYOUTS, NOTE_WALLETS = (f"ALTER TABLE {table} ADD COLUMN note text" for table in ("payout_requests", "wallets"))
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


NEXT_REVISION = """
from alembic import op

revision = {revision!r}
down_revision = {before!r}


def upgrade() -> None:
    for statement in {statements}:
        op.execute(statement)
"""


async def with_next_revisions(urls: DatabaseUrls, folder: Path, *revisions: Sequence[str]) -> Config:
    """Return the migrations of payouts with some more, each of which runs these statements."""
    shutil.copytree(migrations_folder("payouts"), folder)
    before = await revision_of(urls)
    for number, statements in enumerate(revisions, start=10_000 - len(revisions)):
        text = NEXT_REVISION.format(revision=str(number), before=before, statements=statements)
        (folder / "versions" / f"{number}_next.py").write_text(text)
        before = str(number)
    return config_of(folder)


async def test_a_migration_yields_to_a_table_holder_and_ends_when_the_lock_is_released(
    fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    urls = await fresh_database("payouts")
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    config = await with_next_revisions(urls, tmp_path / "migrations", [NOTE_WALLETS])
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


@asynccontextmanager
async def migrating_with(urls: DatabaseUrls, config: Config, holder: str) -> AsyncIterator[asyncpg.Connection]:
    """Migrate, and yield a session that began with this SQL and for which the migration waits."""
    session, watcher = await asyncpg.connect(urls.admin), await asyncpg.connect(urls.admin)

    async def waits() -> bool:
        return bool(await watcher.fetchval(WAITING))

    try:
        await session.execute(holder)
        migrating = asyncio.create_task(asyncio.to_thread(command.upgrade, config, "head"))
        await eventually(waits)
        yield session
        await session.execute("COMMIT")
        await migrating
    finally:
        await session.close()
        await watcher.close()
    assert await revision_of(urls) == "9999"


async def deadlocks_of(urls: DatabaseUrls) -> int:
    async with connected(urls.admin) as connection:
        return int(await connection.fetchval(DEADLOCKS))


async def test_a_request_waits_for_one_revision_only(
    fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    urls = await fresh_database("payouts")
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    config = await with_next_revisions(urls, tmp_path / "migrations", [NOTE_PAYOUTS], [NOTE_WALLETS])
    begin = "SET deadlock_timeout = '10ms'; BEGIN; LOCK TABLE wallets IN SHARE MODE"
    async with migrating_with(urls, config, begin) as request:
        await request.execute("LOCK TABLE payout_requests IN SHARE MODE")
    assert await deadlocks_of(urls) == 0


async def test_a_migration_gives_up_its_locks_before_a_deadlock(
    fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    urls = await fresh_database("payouts")
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    config = await with_next_revisions(urls, tmp_path / "migrations", [NOTE_PAYOUTS, NOTE_WALLETS])
    async with migrating_with(urls, config, "BEGIN; LOCK TABLE wallets IN SHARE MODE") as request:
        await request.execute("LOCK TABLE payout_requests IN SHARE MODE")
    assert await deadlocks_of(urls) == 0


async def test_only_a_migration_that_failed_often_waits_until_an_autovacuum_ends(
    fresh_database: DatabaseFactory,
) -> None:
    connection = await asyncpg.connect((await fresh_database("payouts")).admin)
    # PostgreSQL looks for deadlocks, and ends an autovacuum that is in the way, after this time.
    setting = "SELECT setting::int FROM pg_settings WHERE name = 'deadlock_timeout'"
    milliseconds = await connection.fetchval(setting)
    await connection.close()
    waits = [lock_milliseconds(failed) for failed in range(LOCK_ATTEMPTS_MAX)]
    assert waits == sorted(waits)
    assert waits[0] < milliseconds < waits[8]


async def test_a_migration_that_a_deadlock_ends_runs_again(
    fresh_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    urls = await fresh_database("payouts")
    monkeypatch.setenv("OWNER_DATABASE_URL", urls.owner)
    # A sequence also counts what is rolled back.
    first = "DO $$ BEGIN IF nextval('runs') = 1 THEN RAISE deadlock_detected; END IF; END $$"
    config = await with_next_revisions(urls, tmp_path / "migrations", [NOTE_WALLETS, first])
    async with connected(urls.owner) as owner:
        await owner.execute("CREATE SEQUENCE runs")
        await asyncio.to_thread(command.upgrade, config, "head")
        assert await owner.fetchval("SELECT last_value FROM runs") == 2
    assert await revision_of(urls) == "9999"
