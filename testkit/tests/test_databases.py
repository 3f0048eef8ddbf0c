"""A lent database is as its migrations left it, and its connections outlive a test."""

import os
from collections.abc import AsyncIterator

import asyncpg
import pytest

from campus_tools.servers import Server
from common.auth.caller import THE_SERVICE
from testkit.databases import Databases, DatabaseUrls
from testkit.fixtures import role_passwords

# Of a service whose migrations insert rows, and that has a sequence, a generated column and foreign keys.
SERVICE = "payouts"


@pytest.fixture(scope="module")
async def databases(postgresql: Server) -> AsyncIterator[Databases]:
    # Each worker has its own, also where one file is divided among them.
    made = Databases(postgresql.url, f"lending_{os.getpid()}", role_passwords(postgresql.url))
    yield made
    await made.close(with_templates=True)


async def test_the_next_test_finds_the_rows_and_sequences_of_the_migrations(databases: Databases) -> None:
    async with databases.lending() as lend:
        first = await lend(SERVICE)
        before = await _content(first)
        admin = await asyncpg.connect(first.admin)
        await admin.execute("SET session_replication_role = replica")
        for table in [name for name in before if not name.startswith("sequence ")]:
            await admin.execute(f"DELETE FROM {table}")
        await admin.execute("INSERT INTO inbox (event_id, consumer) VALUES (gen_random_uuid(), 'test')")
        for sequence in [name.removeprefix("sequence ") for name in before if name.startswith("sequence ")]:
            await admin.execute(f"SELECT setval('{sequence}', 4711)")
        await admin.close()
        assert await _content(first) != before
    for _ in range(2):
        async with databases.lending() as lend:
            again = await lend(SERVICE)
            assert again.name == first.name
            assert await _content(again) == before


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE inbox ADD note text",
        "CREATE INDEX only_here ON inbox (consumer)",
        "ALTER TABLE ledger_entries DISABLE TRIGGER ALL",
        "REVOKE SELECT ON inbox FROM campus_payouts_service",
        "CREATE FUNCTION only_here() RETURNS int LANGUAGE sql RETURN 1",
        "DROP TABLE inbox",
        "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 65', current_database()); END$$",
    ],
)
async def test_a_database_with_another_schema_is_not_lent_again(databases: Databases, statement: str) -> None:
    async with databases.lending() as lend:
        changed = await lend(SERVICE)
        admin = await asyncpg.connect(changed.admin)
        await admin.execute(statement)
        await admin.close()
    async with databases.lending() as lend:
        assert (await lend(SERVICE)).name != changed.name
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await asyncpg.connect(changed.admin)


async def test_an_open_transaction_of_a_test_ends_with_it(databases: Databases) -> None:
    async with databases.lending() as lend:
        urls = await lend(SERVICE)
        left = await asyncpg.connect(urls.owner)
        await left.execute(
            "BEGIN; LOCK TABLE inbox; INSERT INTO inbox (event_id, consumer) VALUES (gen_random_uuid(), '')"
        )
    with pytest.raises((asyncpg.PostgresConnectionError, asyncpg.InterfaceError)):
        await left.execute("COMMIT")
    async with databases.lending() as lend:
        again = await lend(SERVICE)
        assert again.name == urls.name
        assert (await _content(again))["inbox"] == []


async def test_two_tests_at_the_same_time_have_two_databases(databases: Databases) -> None:
    async with databases.lending() as lend, databases.lending() as lend_another:
        assert (await lend(SERVICE)).name != (await lend_another(SERVICE)).name


async def test_a_service_finds_its_connections_open_and_idle(databases: Databases) -> None:
    pids = []
    for _ in range(2):
        async with databases.lending() as lend:
            urls = await lend(SERVICE)
            async with (
                urls.connections.database(urls) as database,
                database.unit_of_work(acting_as=THE_SERVICE) as uow,
            ):
                pids.append(await uow.fetch_value("SELECT pg_backend_pid()"))
    assert pids[0] == pids[1]


@pytest.mark.parametrize("users", ["usename LIKE 'campus%'", "pid <> pg_backend_pid()"])
async def test_a_lost_connection_is_not_lent_again(databases: Databases, users: str) -> None:
    async with databases.lending() as lend:
        urls = await lend(SERVICE)
        async with urls.connections.database(urls):
            admin = await asyncpg.connect(urls.admin)
            await admin.fetch(
                "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity "
                f"WHERE datname = current_database() AND {users}"
            )
            await admin.close()
    async with databases.lending() as lend:
        again = await lend(SERVICE)
        async with again.connections.database(again) as database:
            assert await database.fetch_public("SELECT 1") is not None


async def _content(urls: DatabaseUrls) -> dict[str, object]:
    """Return the rows of every table, and the state of every sequence."""
    admin = await asyncpg.connect(urls.admin)
    tables = await admin.fetch(
        "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    content: dict[str, object] = {
        row["name"]: await admin.fetch(f"SELECT t::text FROM {row['name']} t ORDER BY 1") for row in tables
    }
    for row in await admin.fetch("SELECT sequencename AS name FROM pg_sequences"):
        content[f"sequence {row['name']}"] = await admin.fetch(f"SELECT last_value, is_called FROM {row['name']}")
    await admin.close()
    return content
