"""Create databases, roles and broker accounts of the six services. Idempotent.

The launcher calls it with its secrets. `python -m operations.provision`, a one-shot container, reads the environment:
`DATABASE_URL`, the passwords named in `ROLE_PASSWORDS` of `operations.secrets`, `<DATABASE>_LOGIN` when the login in
use is not `a`, and `BROKER_URL` with `BROKER_MANAGEMENT_URL` for the queues, the services' accounts on the broker and
the outside subscriber's. Grants on tables are part of each service's migrations.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import asyncpg
import httpx

from common.messaging.declaring import DeclarationFailed, declare_broker
from common.primitives.database_servers import DatabaseServers
from common.primitives.tls import client_tls
from operations.broker_accounts import (
    QUEUES_MAX,
    SUBSCRIBER_LIMITS,
    SUBSCRIBER_POLICY,
    SUBSCRIBER_POLICY_NAME,
    Rights,
    rights_of_service,
    rights_of_subscriber,
)
from operations.database_settings import STATEMENT_TIMEOUT
from operations.secret_table import broker_account, login_variable, password_variable
from operations.services import LOGINS, SERVICES, Service, login_of

AUDIT_ROLE = "campus_audit"
SUBSCRIBER = "subscriber_demo"
SUBSCRIBER_TEAM = "demo"
# Concurrent starts may create the same account.
_PUT_ATTEMPTS_MAX = 5


class ProvisioningFailed(Exception):
    """A server rejected an operation; the message names the missing right."""


def database_url(admin_url: str, *, role: str, password: str, database: str | None = None) -> str:
    """Return `admin_url` with another account, and with another database when given."""
    parts = urlsplit(admin_url)
    host = parts.netloc.rpartition("@")[2]
    path = f"/{quote(database)}" if database is not None else parts.path
    return urlunsplit((parts.scheme, f"{quote(role)}:{quote(password)}@{host}", path, parts.query, ""))


def service_database_urls(
    admin_url: str, service: Service, secrets: Mapping[str, str], database: str | None = None
) -> dict[str, str]:
    """Return the `..._DATABASE_URL` of owner, API and service of a service, for its database or `database`."""
    names = ("OWNER_DATABASE_URL", "API_DATABASE_URL", "SERVICE_DATABASE_URL")
    accounts = (service.owner_role, *(login_of(role, login_in_use(service, secrets)) for role in service.running_roles))
    return {
        name: database_url(
            admin_url,
            role=account,
            password=secrets[password_variable(role)],
            database=service.database if database is None else database,
        )
        for name, account, role in zip(names, accounts, service.roles, strict=True)
    }


def login_in_use(service: Service, secrets: Mapping[str, str]) -> str:
    """Return the login (`a` or `b`) whose passwords `secrets` holds; `a` before the first rotation.

    Raises:
        ProvisioningFailed: the value is neither `a` nor `b`.
    """
    suffix = secrets.get(login_variable(service)) or LOGINS[0]
    if suffix not in LOGINS:
        raise ProvisioningFailed(f"{login_variable(service)} must be one of {', '.join(LOGINS)}, not {suffix!r}.")
    return suffix


def audit_database_url(admin_url: str, secrets: Mapping[str, str]) -> str:
    """Return the address of the read-only audit account; the caller sets the database's name."""
    return database_url(admin_url, role=AUDIT_ROLE, password=secrets[password_variable(AUDIT_ROLE)])


def subscriber_broker_url(broker_url: str, secrets: Mapping[str, str]) -> str:
    """Return the address of the outside subscriber `demo` on the same broker and virtual host."""
    return database_url(broker_url, role=SUBSCRIBER, password=secrets[password_variable(SUBSCRIBER)])


def service_broker_url(broker_url: str, service: Service, secrets: Mapping[str, str]) -> str:
    """Return the address with the service's account, on the same broker and virtual host."""
    return database_url(broker_url, role=service.name, password=secrets[password_variable(broker_account(service))])


def virtual_host(broker_url: str) -> str:
    """Return the virtual host of an AMQP address; `/` when it has none."""
    return unquote(urlsplit(broker_url).path.removeprefix("/")) or "/"


async def provision_databases(admin_url: str, secrets: Mapping[str, str]) -> None:
    """Create missing roles and databases, and set the passwords of all.

    Raises:
        ProvisioningFailed: the account of `admin_url` cannot log in, or may not create roles, row-security bypass or
        databases.
    """
    try:
        connection = await DatabaseServers.of(admin_url).connect()
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        # The message omits the address, which contains a password.
        raise ProvisioningFailed(f"PostgreSQL rejects the account of DATABASE_URL: {error}.") from error
    try:
        await provision_roles(connection, secrets)
        for service in SERVICES:
            await create_database(connection, service, service.database)
        await _close_maintenance_databases(connection)
    except asyncpg.InsufficientPrivilegeError as error:
        raise ProvisioningFailed(
            f"The account of DATABASE_URL lacks a right ({error}). It needs CREATEDB, CREATEROLE and "
            "BYPASSRLS, and before PostgreSQL 16 it must be a superuser."
        ) from error
    finally:
        await connection.close()


async def provision_roles(connection: asyncpg.Connection, secrets: Mapping[str, str]) -> None:
    """Create owner, two roles and their two logins for each service, and the audit's account.

    Concurrent starts take turns from here until the connection closes.
    """
    # Concurrent grants on one object fail with "tuple concurrently updated".
    await connection.execute("SELECT pg_advisory_lock(hashtext('campus provisioning'))")
    for service in SERVICES:
        await _make_role(connection, service.owner_role, "LOGIN NOBYPASSRLS")
        await set_password(connection, service.owner_role, secrets[password_variable(service.owner_role)])
        for role in service.running_roles:
            await _make_logins(connection, service, role)
            login = login_of(role, login_in_use(service, secrets))
            await set_password(connection, login, secrets[password_variable(role)])
    await _make_role(connection, AUDIT_ROLE, "LOGIN BYPASSRLS")
    await set_password(connection, AUDIT_ROLE, secrets[password_variable(AUDIT_ROLE)])
    # Each service's migrations grant it the columns without secrets; earlier versions gave it all data.
    if await connection.fetchval("SELECT pg_has_role($1, 'pg_read_all_data', 'MEMBER')", AUDIT_ROLE):
        await connection.execute(f"REVOKE pg_read_all_data FROM {AUDIT_ROLE}")
    await connection.execute(f"ALTER ROLE {AUDIT_ROLE} SET default_transaction_read_only = on")


async def create_database(connection: asyncpg.Connection, service: Service, name: str) -> None:
    """Create the service's database when it is missing. Only the service's roles and the audit may connect."""
    superuser = await connection.fetchval("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
    if not superuser:
        # Only a member of a role may make it the owner.
        await connection.execute(f"GRANT {service.owner_role} TO CURRENT_USER")
    if not await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", name):
        # A concurrent start may have created it.
        with contextlib.suppress(asyncpg.DuplicateDatabaseError):
            await connection.execute(f'CREATE DATABASE "{name}" OWNER {service.owner_role}')
    await connection.execute(f'ALTER DATABASE "{name}" OWNER TO {service.owner_role}')
    await connection.execute(f'REVOKE ALL ON DATABASE "{name}" FROM PUBLIC')
    await connection.execute(
        f'GRANT CONNECT ON DATABASE "{name}" TO {service.api_role}, {service.service_role}, {AUDIT_ROLE}'
    )


async def _close_maintenance_databases(connection: asyncpg.Connection) -> None:
    """Revoke PUBLIC's right to connect to `postgres` and `template1`, and to no other database of a shared server."""
    rows = await connection.fetch(
        "SELECT datname, pg_has_role(current_user, datdba, 'USAGE') AS is_ours FROM pg_database "
        "WHERE datname IN ('postgres', 'template1')"
    )
    for row in rows:
        if not row["is_ours"]:
            print(
                f"WARNING: the account of DATABASE_URL may not close the database {row['datname']} to the "
                "services' roles."
            )
            continue
        await connection.execute(f'REVOKE CONNECT, TEMPORARY ON DATABASE "{row["datname"]}" FROM PUBLIC')
        await connection.execute(f'GRANT CONNECT ON DATABASE "{row["datname"]}" TO CURRENT_USER')


async def set_password(connection: asyncpg.Connection, login: str, password: str) -> None:
    """Set an account's password and let it log in. Its open connections continue."""
    # DDL takes no parameters; the server quotes the password.
    statement = f"SELECT format('ALTER ROLE {login} LOGIN PASSWORD %L', $1::text)"
    await connection.execute(await connection.fetchval(statement, password))


async def _make_logins(connection: asyncpg.Connection, service: Service, role: str) -> None:
    """Create the role that holds the grants, and its two logins, which inherit all but the bypass of row security.

    The right to log in stays unchanged: during a rotation both logins have it, and before the first one a role of an
    earlier version may have it itself.
    """
    row_security = "BYPASSRLS" if role == service.service_role else "NOBYPASSRLS"
    await _make_role(connection, role, row_security)
    for suffix in LOGINS:
        login = login_of(role, suffix)
        await _make_role(connection, login, f"INHERIT {row_security}")
        # The limit of a process that does not enforce its own (docs/reference/database-settings.md).
        await connection.execute(f"ALTER ROLE {login} SET statement_timeout = '{STATEMENT_TIMEOUT}'")
        if not await connection.fetchval("SELECT pg_has_role($1, $2, 'MEMBER')", login, role):
            await connection.execute(f"GRANT {role} TO {login}")


async def _make_role(connection: asyncpg.Connection, role: str, rights: str) -> None:
    rights = f"NOCREATEDB NOCREATEROLE {rights}"
    if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", role):
        # A concurrent start may have created it.
        with contextlib.suppress(asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
            await connection.execute(f"CREATE ROLE {role}")
    await connection.execute(f"ALTER ROLE {role} {rights}")


async def provision_broker(management_url: str, broker_url: str, secrets: Mapping[str, str]) -> None:
    """Create the broker accounts of services and subscriber with permissions and limits, through the management API.

    Raises:
        ProvisioningFailed: the API is unreachable or rejects the account.
    """
    host = quote(virtual_host(broker_url), safe="")
    try:
        async with httpx.AsyncClient(base_url=management_url, timeout=10, trust_env=False, verify=client_tls()) as api:
            for service in SERVICES:
                password = secrets[password_variable(broker_account(service))]
                await _make_account(api, host, service.name, password, rights_of_service(service.name))
            rights = rights_of_subscriber(SUBSCRIBER_TEAM)
            password = secrets[password_variable(SUBSCRIBER)]
            await provision_subscriber(api, host, SUBSCRIBER, password, rights, SUBSCRIBER_LIMITS)
            await _put(api, f"/api/policies/{host}/{SUBSCRIBER_POLICY_NAME}", SUBSCRIBER_POLICY)
            await _put(api, f"/api/vhost-limits/{host}/max-queues", {"value": QUEUES_MAX})
    except httpx.HTTPError as error:
        address = management_url.rpartition("@")[2]
        # The text of a status error contains the address with its password; that of a connection names the fault alone.
        cause = (
            f"status {error.response.status_code}"
            if isinstance(error, httpx.HTTPStatusError)
            else f"{type(error).__name__}: {error}"
        )
        raise ProvisioningFailed(
            f"The broker accounts could not be created through RabbitMQ's management API at {address} ({cause}). "
            "Set BROKER_MANAGEMENT_URL to http://user:password@host:port of an administrator."
        ) from None


async def provision_subscriber(
    api: httpx.AsyncClient, host: str, account: str, password: str, rights: Rights, limits: Mapping[str, int]
) -> None:
    """Create or change a subscriber's account with its permissions and limits, through the management API."""
    await _make_account(api, host, account, password, rights)
    for limit, number in limits.items():
        await _put(api, f"/api/user-limits/{account}/{limit}", {"value": number})
    if not rights.topics:
        # A permission of earlier, narrower topics.
        response = await api.delete(f"/api/topic-permissions/{host}/{account}")
        if response.status_code != httpx.codes.NOT_FOUND:
            response.raise_for_status()


async def _make_account(api: httpx.AsyncClient, host: str, name: str, password: str, rights: Rights) -> None:
    """Create an account without tags: it can neither administer the broker nor read its management interface."""
    await _put(api, f"/api/users/{name}", {"password": password, "tags": ""})
    permissions = {"configure": rights.configure, "write": rights.write, "read": rights.read}
    # Topic permissions first: without one, every routing key is allowed.
    for exchange, (write, read) in rights.topics.items():
        await _put(api, f"/api/topic-permissions/{host}/{name}", {"exchange": exchange, "write": write, "read": read})
    await _put(api, f"/api/permissions/{host}/{name}", permissions)


async def _put(api: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> None:
    """Send a PUT. Status 400 means that a concurrent start creates the same object: the request is repeated."""
    for attempt in range(_PUT_ATTEMPTS_MAX):
        response = await api.put(path, json=body)
        if response.status_code != httpx.codes.BAD_REQUEST or attempt == _PUT_ATTEMPTS_MAX - 1:
            response.raise_for_status()
            return


def missing_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables without which the program cannot run, of those that `environment` lacks."""
    needed = ["DATABASE_URL", *(password_variable(role) for service in SERVICES for role in service.roles)]
    needed.append(password_variable(AUDIT_ROLE))
    if environment.get("BROKER_MANAGEMENT_URL"):
        accounts = (SUBSCRIBER, *(broker_account(service) for service in SERVICES))
        needed += ["BROKER_URL", *(password_variable(account) for account in accounts)]
    return [name for name in needed if not environment.get(name)]


async def _from_environment() -> None:
    management_url = os.environ.get("BROKER_MANAGEMENT_URL")
    if missing := missing_variables(os.environ):
        raise ProvisioningFailed(f"These environment variables are missing: {', '.join(missing)}.")
    await provision_databases(os.environ["DATABASE_URL"], os.environ)
    print(f"{len(SERVICES)} databases with their roles are ready.")
    if management_url:
        await provision_broker(management_url, os.environ["BROKER_URL"], os.environ)
        print(f"The broker accounts of {len(SERVICES)} services and of {SUBSCRIBER} are ready.")
        await declare_broker(os.environ["BROKER_URL"], os.environ)
        print("The queues of the broker are declared.")
    else:
        print("BROKER_MANAGEMENT_URL is not set: no broker account was created, and no queue declared.")


if __name__ == "__main__":
    try:
        asyncio.run(_from_environment())
    except (ProvisioningFailed, DeclarationFailed) as failure:
        sys.exit(str(failure))
