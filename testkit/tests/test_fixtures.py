"""Fixtures of the whole workspace: databases and virtual hosts of their own."""

import asyncpg
import httpx
import pytest

from testkit.fixtures import EmptyDatabaseFactory, NeverHappened, eventually


async def test_api_role_cannot_bypass_row_security_and_service_role_can(empty_database: EmptyDatabaseFactory) -> None:
    urls = await empty_database()
    owner = await asyncpg.connect(urls.owner)
    await owner.execute(
        "CREATE TABLE notes (text text);"
        "INSERT INTO notes VALUES ('hidden');"
        "ALTER TABLE notes ENABLE ROW LEVEL SECURITY;"
        "GRANT SELECT ON notes TO PUBLIC"
    )
    await owner.close()
    api, acting = await asyncpg.connect(urls.api), await asyncpg.connect(urls.service)

    assert await api.fetch("SELECT * FROM notes") == []
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await api.execute("ALTER TABLE notes DISABLE ROW LEVEL SECURITY")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await api.execute("CREATE TABLE own (id int)")
    assert len(await acting.fetch("SELECT * FROM notes")) == 1
    await api.close()
    await acting.close()


async def test_two_databases_share_nothing(empty_database: EmptyDatabaseFactory) -> None:
    first, second = await empty_database(), await empty_database()
    connection = await asyncpg.connect(first.owner)
    await connection.execute("CREATE TABLE only_here (id int)")
    await connection.close()

    connection = await asyncpg.connect(second.owner)
    assert await connection.fetchval("SELECT to_regclass('only_here')") is None
    await connection.close()


async def test_roles_of_another_service_cannot_connect(empty_database: EmptyDatabaseFactory) -> None:
    urls = await empty_database()
    admin = await asyncpg.connect(urls.admin)
    allowed = await admin.fetchval(
        "SELECT has_database_privilege('campus_payments_api', current_database(), 'CONNECT')"
    )
    await admin.close()
    assert allowed is False


async def test_module_has_a_virtual_host_of_its_own(broker_url: str, management_url: str) -> None:
    name = broker_url.rpartition("/")[2]
    async with httpx.AsyncClient(base_url=management_url, timeout=60, trust_env=False) as api:
        queues = await api.get(f"/api/queues/{name}")
    assert queues.status_code == 200
    assert sum(queue.get("messages", 0) for queue in queues.json()) == 0


async def test_eventually_reports_the_last_value() -> None:
    with pytest.raises(NeverHappened, match=r"last seen: 0"):
        await eventually(lambda: 0, within=0.1)


async def test_eventually_waits_for_an_async_probe() -> None:
    seen: list[int] = []

    async def third_time() -> bool:
        seen.append(1)
        return len(seen) == 3

    assert await eventually(third_time, every=0.001)
