"""Rotation of database passwords: each role has two logins, of which one is in use (decision 24)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from common.primitives.database_servers import DatabaseServers
from operations.provision import login_in_use, set_password
from operations.secret_table import login_variable, password_variable
from operations.secrets import new_password
from operations.services import LOGINS, Service, login_of, other_login


class LoginsRefused(Exception):
    """The logins are unchanged; the message gives the reason and the next step."""


@dataclass(frozen=True, slots=True)
class Login:
    """A login of a service, and its current sessions by `application_name`."""

    service: str
    name: str
    is_open: bool
    is_in_use: bool
    sessions: Mapping[str, int]


async def list_logins(admin_url: str, secrets: Mapping[str, str], services: Sequence[Service]) -> list[Login]:
    """Return the logins of these services, and roles that can still log in themselves since an earlier version."""
    async with _administrator(admin_url) as connection:
        return [login for service in services for login in await _logins_of(connection, service, secrets)]


async def open_next_logins(admin_url: str, secrets: Mapping[str, str], services: Sequence[Service]) -> dict[str, str]:
    """Set new passwords on the idle logins. Return the changed secrets: the passwords, and the login that they belong
    to.

    Raises:
        LoginsRefused: an idle login is still open, because the last rotation was not ended.
    """
    changed: dict[str, str] = {}
    async with _administrator(admin_url) as connection:
        for service in services:
            logins = await _logins_of(connection, service, secrets)
            if open_ones := [login.name for login in logins if login.is_open and not login.is_in_use]:
                raise LoginsRefused(
                    f"{', '.join(open_ones)} is still open, from the last rotation. End that rotation first: the "
                    "password may be in use."
                )
        async with connection.transaction():
            for service in services:
                suffix = other_login(login_in_use(service, secrets))
                changed[login_variable(service)] = suffix
                for role in service.running_roles:
                    changed[password_variable(role)] = new_password()
                    await set_password(connection, login_of(role, suffix), changed[password_variable(role)])
    return changed


async def close_previous_logins(
    admin_url: str, secrets: Mapping[str, str], services: Sequence[Service], *, even_in_use: bool = False
) -> list[Login]:
    """Remove the passwords of logins not in use, and terminate their sessions. Return the closed logins.

    Raises:
        LoginsRefused: one of them has sessions, and `even_in_use` is false.
    """
    async with _administrator(admin_url) as connection:
        closing = [
            login
            for service in services
            for login in await _logins_of(connection, service, secrets)
            if login.is_open and not login.is_in_use
        ]
        if not even_in_use and (busy := [login for login in closing if login.sessions]):
            seen = "; ".join(f"{login.name}: {', '.join(sorted(login.sessions))}" for login in busy)
            raise LoginsRefused(
                f"Processes are still connected with a login that would be closed. Restart them first: {seen}."
            )
        for login in closing:
            await connection.execute(f"ALTER ROLE {login.name} NOLOGIN PASSWORD NULL")
            # A session outlives its login's password.
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", login.name
            )
    return closing


async def _logins_of(connection: asyncpg.Connection, service: Service, secrets: Mapping[str, str]) -> list[Login]:
    in_use = login_in_use(service, secrets)
    found = []
    for role in service.running_roles:
        names = {role: False, **{login_of(role, suffix): suffix == in_use for suffix in LOGINS}}
        rows = await connection.fetch(_LOGINS, list(names))
        sessions: dict[str, dict[str, int]] = {}
        for row in await connection.fetch(_SESSIONS, list(names)):
            sessions.setdefault(row["usename"], {})[row["application_name"]] = row["sessions"]
        found += [
            Login(
                service.name,
                row["rolname"],
                row["rolcanlogin"],
                names[row["rolname"]],
                sessions.get(row["rolname"], {}),
            )
            for row in rows
            if row["rolname"] != role or row["rolcanlogin"]
        ]
    return found


_LOGINS = "SELECT rolname, rolcanlogin FROM pg_roles WHERE rolname = ANY ($1::text[]) ORDER BY rolname"
_SESSIONS = """
SELECT usename, application_name, count(*) AS sessions FROM pg_stat_activity
WHERE usename = ANY ($1::text[]) GROUP BY usename, application_name
"""


@asynccontextmanager
async def _administrator(admin_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await DatabaseServers.of(admin_url).connect()
    try:
        yield connection
    except asyncpg.InsufficientPrivilegeError as error:
        raise LoginsRefused(f"The account of DATABASE_URL may not change the logins: {error}.") from error
    finally:
        await connection.close()
