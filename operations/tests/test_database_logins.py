"""A rotated database login: the old and the new one are valid together, and the rights of no role change."""

from pathlib import Path

import asyncpg
import pytest

from campus_tools.servers import Servers
from operations.provision import ProvisioningFailed, provision_databases, service_database_urls
from operations.rotation.database_logins import LoginsRefused, close_previous_logins, list_logins, open_next_logins
from operations.secret_table import login_variable, password_variable
from operations.secrets import load_secrets
from operations.services import service_named
from testkit.fixtures import eventually

ORDERS, PAYOUTS = service_named("orders"), service_named("payouts")
REFUSED = (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError)


@pytest.fixture
async def secrets(own_servers: Servers, tmp_path: Path) -> dict[str, str]:
    """Those of an installation in which everything is as it was made: login `a` is in use, `b` closed."""
    admin = await asyncpg.connect(own_servers.database_url)
    for name in [row[0] for row in await admin.fetch(_LOGINS_THERE)]:
        await admin.execute(f"ALTER ROLE {name} NOLOGIN PASSWORD NULL")
    await admin.close()
    made = load_secrets(tmp_path, {})
    await provision_databases(own_servers.database_url, made)
    return made


_LOGINS_THERE = "SELECT rolname FROM pg_roles WHERE rolname ~ '^campus_.*_(api|service)(_a|_b)?$'"


def urls(own_servers: Servers, secrets: dict[str, str]) -> tuple[str, str]:
    """Return the two addresses that the processes of orders get."""
    variables = service_database_urls(own_servers.database_url, ORDERS, secrets)
    return variables["API_DATABASE_URL"], variables["SERVICE_DATABASE_URL"]


async def test_both_passwords_open_until_the_old_one_is_closed(own_servers: Servers, secrets: dict[str, str]) -> None:
    newer = {**secrets, **await open_next_logins(own_servers.database_url, secrets, [ORDERS])}
    assert newer[login_variable(ORDERS)] == "b"
    assert newer[login_variable(PAYOUTS)] == "a"
    assert newer[password_variable(PAYOUTS.api_role)] == secrets[password_variable(PAYOUTS.api_role)]
    for url in (*urls(own_servers, secrets), *urls(own_servers, newer)):
        await (await asyncpg.connect(url)).close()

    async def closed() -> bool:
        # A server's process ends a moment after its client.
        return not any(login.sessions for login in await list_logins(own_servers.database_url, newer, [ORDERS]))

    await eventually(closed)
    closed = await close_previous_logins(own_servers.database_url, newer, [ORDERS])
    assert [login.name for login in closed] == [f"{role}_a" for role in ORDERS.running_roles]
    for url in urls(own_servers, secrets):
        with pytest.raises(REFUSED):
            await asyncpg.connect(url)
    for url in urls(own_servers, newer):
        await (await asyncpg.connect(url)).close()
    assert await close_previous_logins(own_servers.database_url, newer, [ORDERS]) == []

    # And back again: the closed one gets the next password, not its former one.
    newest = {**newer, **await open_next_logins(own_servers.database_url, newer, [ORDERS])}
    assert newest[login_variable(ORDERS)] == "a"
    for url in urls(own_servers, newest):
        await (await asyncpg.connect(url)).close()
    with pytest.raises(REFUSED):
        await asyncpg.connect(urls(own_servers, secrets)[0])


async def test_a_login_with_sessions_is_closed_only_in_need_and_then_they_end(
    own_servers: Servers, secrets: dict[str, str]
) -> None:
    old = await asyncpg.connect(urls(own_servers, secrets)[0], server_settings={"application_name": "orders-api"})
    newer = {**secrets, **await open_next_logins(own_servers.database_url, secrets, [ORDERS])}
    with pytest.raises(LoginsRefused, match="campus_orders_api_a: orders-api"):
        await close_previous_logins(own_servers.database_url, newer, [ORDERS])
    assert await old.fetchval("SELECT 1") == 1
    await close_previous_logins(own_servers.database_url, newer, [ORDERS], even_in_use=True)
    await eventually(old.is_closed)


async def test_a_second_rotation_waits_for_the_end_of_the_first(own_servers: Servers, secrets: dict[str, str]) -> None:
    newer = {**secrets, **await open_next_logins(own_servers.database_url, secrets, [ORDERS])}
    with pytest.raises(LoginsRefused, match="campus_orders_api_a"):
        await open_next_logins(own_servers.database_url, newer, [ORDERS])
    await (await asyncpg.connect(urls(own_servers, secrets)[0])).close()


async def test_row_security_and_grants_are_the_same_under_both(own_servers: Servers, secrets: dict[str, str]) -> None:
    owner = await asyncpg.connect(
        service_database_urls(own_servers.database_url, ORDERS, secrets)["OWNER_DATABASE_URL"]
    )
    await owner.execute(
        """
        CREATE TABLE notes (owner text, words text);
        INSERT INTO notes VALUES ('me', 'mine'), ('you', 'yours');
        ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON notes TO campus_orders_api USING (owner = current_setting('app.user_id', true));
        GRANT SELECT, UPDATE (words) ON notes TO campus_orders_api;
        GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO campus_orders_service;
        """
    )
    newer = {**secrets, **await open_next_logins(own_servers.database_url, secrets, [ORDERS])}
    for variables in (secrets, newer):
        api, service = [await asyncpg.connect(url) for url in urls(own_servers, variables)]
        async with api.transaction():
            await api.execute("SELECT set_config('app.user_id', 'me', true)")
            assert await api.fetchval("SELECT array_agg(words) FROM notes") == ["mine"]
            assert await api.execute("UPDATE notes SET words = words") == "UPDATE 1"
        for statement in (
            "UPDATE notes SET owner = 'x'",
            "DELETE FROM notes",
            "ALTER TABLE notes DISABLE ROW LEVEL SECURITY",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await api.execute(statement)
        assert await service.fetchval("SELECT count(*) FROM notes") == 2
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute("DROP TABLE notes")
        await api.close()
        await service.close()
    await owner.execute("DROP TABLE notes")
    await owner.close()


async def test_an_installation_whose_roles_were_logins_goes_on_with_its_passwords(
    own_servers: Servers, secrets: dict[str, str]
) -> None:
    """In an earlier version the roles logged in. Its processes continue while those of this version start."""
    admin = await asyncpg.connect(own_servers.database_url)
    for role in ORDERS.running_roles:
        await admin.execute(f"DROP ROLE {role}_a; DROP ROLE {role}_b")
        await admin.execute(f"ALTER ROLE {role} LOGIN PASSWORD '{secrets[password_variable(role)]}'")
    await admin.close()
    earlier = [
        url.replace("campus_orders_api_a:", "campus_orders_api:").replace("_service_a:", "_service:")
        for url in urls(own_servers, secrets)
    ]
    del secrets[login_variable(ORDERS)]

    await provision_databases(own_servers.database_url, secrets)

    for url in (*earlier, *urls(own_servers, secrets)):
        await (await asyncpg.connect(url)).close()
    open_ones = {
        login.name for login in await list_logins(own_servers.database_url, secrets, [ORDERS]) if login.is_open
    }
    assert open_ones == {*ORDERS.running_roles, *(f"{role}_a" for role in ORDERS.running_roles)}
    await close_previous_logins(own_servers.database_url, secrets, [ORDERS], even_in_use=True)
    for url in earlier:
        with pytest.raises(REFUSED):
            await asyncpg.connect(url)
    for url in urls(own_servers, secrets):
        await (await asyncpg.connect(url)).close()


def test_a_login_outside_the_pair_is_rejected() -> None:
    with pytest.raises(ProvisioningFailed, match="CAMPUS_ORDERS_LOGIN"):
        service_database_urls("postgresql://server/x", ORDERS, {"CAMPUS_ORDERS_LOGIN": "c"})
