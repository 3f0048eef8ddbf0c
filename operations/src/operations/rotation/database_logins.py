"""New passwords for the databases, old and new valid together: each role has two logins, of which one is in use (decision 24)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from operations.provision import login_in_use, set_password
from operations.secrets import login_variable, new_password, password_variable
from operations.services import LOGINS, Service, login_of, other_login


class LoginsRefused(Exception):
    """The logins are left as they are; the message says why and what to do first."""


@dataclass(frozen=True, slots=True)
class Login:
    """One account that may connect as a service, and who is connected with it now (`application_name`s)."""

    service: str
    name: str
    is_open: bool
    is_in_use: bool
    sessions: Mapping[str, int]


async def list_logins(admin_url: str, secrets: Mapping[str, str], services: Sequence[Service]) -> list[Login]:
    """The logins of these services. A role that an earlier version let in itself is listed while it is open."""
    async with _administrator(admin_url) as connection:
        return [login for service in services for login in await _logins_of(connection, service, secrets)]


async def open_next_logins(admin_url: str, secrets: Mapping[str, str], services: Sequence[Service]) -> dict[str, str]:
    """Gives the idle logins new passwords; the ones in use stay as they are. Answers the secrets that changed: the new
    passwords, and which login they belong to.

    Raises:
        LoginsRefused: an idle login is still open, from a rotation that was not ended.
    """
    changed: dict[str, str] = {}
    async with _administrator(admin_url) as connection:
        for service in services:
            logins = await _logins_of(connection, service, secrets)
            if open_ones := [login.name for login in logins if login.is_open and not login.is_in_use]:
                raise LoginsRefused(
                    f"{', '.join(open_ones)} is still open, from the last rotation. End that one first: its password is "
                    "perhaps in use."
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
    """Takes the password of every login that is not in use, and ends the sessions it has left. Answers the closed ones.

    Raises:
        LoginsRefused: somebody is still connected with one of them; not with `even_in_use`.
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
            # A session outlives the password with which it came in.
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
    connection = await asyncpg.connect(admin_url)
    try:
        yield connection
    except asyncpg.InsufficientPrivilegeError as error:
        raise LoginsRefused(f"The account of DATABASE_URL may not change the logins: {error}.") from error
    finally:
        await connection.close()
