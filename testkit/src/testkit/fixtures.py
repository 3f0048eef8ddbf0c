"""The pytest plugin of the workspace: real PostgreSQL and RabbitMQ for tests, and waiting with a probe.

Loaded with `-p testkit.fixtures`. A server starts when the first test requests it: from the environment, in Docker,
or as a private process on free ports, thrown away at the end. A PostgreSQL given by `DATABASE_URL` must not be one that
a running system uses: the tests set the passwords of the services' roles.

Fixtures:
    servers: the servers of the session, not started; `servers.postgresql.start()` and so on.
    postgresql: the started PostgreSQL, roles of all services present.
    fresh_database: `await fresh_database("orders")`, a migrated database of its own for one test.
    empty_database: `await empty_database()`, the same without migrations.
    module_database, module_empty_database: the same for all tests of one module.
    broker_url: a virtual host of its own on RabbitMQ for the module.
    management_url: RabbitMQ's management API with the administrator's account.
    held_port: `held_port()`, a port to listen on, reserved until the test is over.

A service that a test opens waits a minute for its own servers (`PATIENT`); in processes of their own the limits are as shipped.
"""

import asyncio
import gc
import hashlib
import hmac
import inspect
import os
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import hypothesis
import pytest
import pytest_asyncio

from campus_tools.servers import Server, Servers, held_ports
from common.primitives.limits import WaitLimits
from operations.provision import create_database, provision_roles, service_database_urls
from operations.secrets import ROLE_PASSWORDS
from operations.services import Service, service_named
from testkit.providers.references import references_folder
from testkit.virtual_hosts import VirtualHost, virtual_host
from testkit.workers import run_of, shared_environment, throwaway_servers

Seen = TypeVar("Seen")

# The duration of an example depends on the machine: a slow example is not wrong, and not repeated.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")
# No objective: it only ends a test that would wait for ever.
WAIT_SECONDS_MAX = 60.0


class NeverHappened(AssertionError):
    """The condition of a test did not occur; the message has the last value."""


async def eventually(
    probe: Callable[[], Awaitable[Seen] | Seen], within: float = WAIT_SECONDS_MAX, *, every: float = 0.05
) -> Seen:
    """Call `probe` until its result is true, and return it. `within` and `every` are seconds.

    A probe may be async or not; an `AssertionError` of it means "not yet" and is part of the description.

    Raises:
        NeverHappened: with the last result of the probe.
    """
    deadline = time.monotonic() + within
    while True:
        try:
            result = probe()
            seen = await result if inspect.isawaitable(result) else result
            if seen:
                return seen
            last = repr(seen)
        except AssertionError as error:
            last = f"AssertionError: {error}"
        if time.monotonic() > deadline:
            name = getattr(probe, "__qualname__", repr(probe)).replace("<locals>.", "")
            raise NeverHappened(f"{name} did not hold within {within} s; last seen: {last}")
        await asyncio.sleep(every)


@dataclass(frozen=True)
class DatabaseUrls:
    """One database of a test, under each of its three roles."""

    name: str
    owner: str
    """Owns the database; migrations run with it."""
    api: str
    """Held by row-level security."""
    service: str
    """Passes row-level security."""
    admin: str
    """The server's administrator, in this database."""


DatabaseFactory = Callable[[str], Awaitable[DatabaseUrls]]
EmptyDatabaseFactory = Callable[[], Awaitable[DatabaseUrls]]


# A service in a test shares one event loop with its clients and with all that it calls, and a busy machine gives that loop a
# tenth of its time: a step of milliseconds is late there although every server is available.
PATIENT = WaitLimits(*[WAIT_SECONDS_MAX] * 5)


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> Iterator[Servers]:
    """Yield the source of PostgreSQL, RabbitMQ and Redis in this session. None is started yet, unless workers share
    them.
    """
    shared = shared_environment(pytestconfig)
    with throwaway_servers({**os.environ, **shared} if shared else None) as found:
        yield found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def postgresql(servers: Servers) -> Server:
    """Return the started PostgreSQL with the roles of all services."""
    await asyncio.to_thread(servers.postgresql.start)
    async with _alone(servers.database_url, "roles") as connection:
        await provision_roles(connection, role_passwords(servers.database_url))
    return servers.postgresql


@asynccontextmanager
async def _alone(admin_url: str, what: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection of the administrator under a lock, which ends with it: workers share one server."""
    connection = await asyncpg.connect(admin_url)
    try:
        await connection.execute("SELECT pg_advisory_lock(hashtext($1))", what)
        yield connection
    finally:
        await connection.close()


class _Databases:
    """Makes the databases of a session; a service is migrated once, into a template that the others are cloned from."""

    def __init__(self, admin_url: str, run: str) -> None:
        """`run`: the same for all workers of one run, which share the templates."""
        self._admin_url = admin_url
        self._run = run
        self._passwords = role_passwords(admin_url)
        self._session = uuid.uuid4().hex[:8]
        self._templates: dict[str, str] = {}
        self._made = 0
        self._one_at_a_time = asyncio.Lock()

    def urls(self, service: Service, name: str) -> DatabaseUrls:
        owner, api, acting = service_database_urls(self._admin_url, service, self._passwords, name).values()
        parts = urlsplit(self._admin_url)
        return DatabaseUrls(name, owner, api, acting, urlunsplit(parts._replace(path=f"/{name}")))

    async def clone(self, service: Service) -> DatabaseUrls:
        async with self._one_at_a_time:
            if service.name not in self._templates:
                self._templates[service.name] = await self._migrated_template(service)
            name = self._next_name(service.import_name)
            template = self._templates[service.name]
            # A copy of the files needs half the time of a copy through the WAL.
            await self._execute(
                f'CREATE DATABASE "{name}" TEMPLATE "{template}" OWNER {service.owner_role} STRATEGY FILE_COPY'
            )
        return self.urls(service, name)

    async def empty(self) -> DatabaseUrls:
        service = service_named("orders")  # Whose roles they are makes no difference for the mechanisms.
        name = self._next_name("empty")
        await self._create(service, name)
        return self.urls(service, name)

    async def drop(self, name: str) -> None:
        await self._execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    async def drop_templates(self) -> None:
        for name in self._templates.values():
            await self.drop(name)

    async def _migrated_template(self, service: Service) -> str:
        name = f"template_{service.import_name}_{self._run}"
        async with _alone(self._admin_url, name) as connection:
            if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", name):
                await self._migrate(service, name)
        return name

    async def _migrate(self, service: Service, name: str) -> None:
        await self._create(service, name)
        environment = {**os.environ, "OWNER_DATABASE_URL": self.urls(service, name).owner}
        migrated = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", service.import_name, "migrate"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if migrated.returncode != 0:
            await self.drop(name)
            raise RuntimeError(
                f"`python -m {service.import_name} migrate` failed with code {migrated.returncode}:\n"
                f"{migrated.stdout}{migrated.stderr}"
            )

    async def _create(self, service: Service, name: str) -> None:
        connection = await asyncpg.connect(self._admin_url)
        try:
            await create_database(connection, service, name)
        finally:
            await connection.close()

    async def _execute(self, command: str) -> None:
        connection = await asyncpg.connect(self._admin_url)
        try:
            await connection.execute(command)
        finally:
            await connection.close()

    def _next_name(self, kind: str) -> str:
        self._made += 1
        return f"test_{kind}_{self._session}_{self._made}"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _databases(servers: Servers, postgresql: Server, pytestconfig: pytest.Config) -> AsyncIterator[_Databases]:
    run = run_of(pytestconfig)
    databases = _Databases(servers.database_url, run or uuid.uuid4().hex[:8])
    yield databases
    if run is None:
        await databases.drop_templates()


@asynccontextmanager
async def _factory(databases: _Databases) -> AsyncIterator[DatabaseFactory]:
    made: list[str] = []

    async def make(service: str) -> DatabaseUrls:
        urls = await databases.clone(service_named(service))
        made.append(urls.name)
        return urls

    yield make
    for name in made:
        await databases.drop(name)


@asynccontextmanager
async def _empty_factory(databases: _Databases) -> AsyncIterator[EmptyDatabaseFactory]:
    made: list[str] = []

    async def make() -> DatabaseUrls:
        urls = await databases.empty()
        made.append(urls.name)
        return urls

    yield make
    for name in made:
        await databases.drop(name)


@pytest_asyncio.fixture(loop_scope="session")
async def fresh_database(_databases: _Databases) -> AsyncIterator[DatabaseFactory]:
    """`await fresh_database("orders")`: a migrated database of that service, dropped after the test."""
    async with _factory(_databases) as make:
        yield make


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def module_database(_databases: _Databases) -> AsyncIterator[DatabaseFactory]:
    """As `fresh_database`, dropped after the module."""
    async with _factory(_databases) as make:
        yield make


@pytest_asyncio.fixture(loop_scope="session")
async def empty_database(_databases: _Databases) -> AsyncIterator[EmptyDatabaseFactory]:
    """`await empty_database()`: a database without tables, the three roles present, dropped after the test."""
    async with _empty_factory(_databases) as make:
        yield make


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def module_empty_database(_databases: _Databases) -> AsyncIterator[EmptyDatabaseFactory]:
    """As `empty_database`, dropped after the module."""
    async with _empty_factory(_databases) as make:
        yield make


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def management_url(servers: Servers) -> str:
    """RabbitMQ's management API with the administrator's account; RabbitMQ is started."""
    await asyncio.to_thread(servers.rabbitmq.start)
    return servers.management_url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _virtual_host(servers: Servers, management_url: str) -> AsyncIterator[VirtualHost]:
    lasting = os.environ.get("TEST_RUN")
    name = f"test-{lasting or uuid.uuid4().hex[:12]}"
    async with virtual_host(servers.broker_url, management_url, name, kept=lasting is not None) as host:
        yield host


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def broker_url(_virtual_host: VirtualHost) -> str:
    """Return an AMQP address with a virtual host that only this module uses, and the whole map declared there, without
    messages.
    """
    await _virtual_host.prepare()
    return _virtual_host.url


@pytest.fixture
def held_port() -> Iterator[Callable[[], int]]:
    """`held_port()`: a port of 127.0.0.1 for a server of the test, reserved until the test is over."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(held_ports(1))[0]


def role_passwords(admin_url: str) -> dict[str, str]:
    """Return fixed passwords of all test runs on one server, so that concurrent runs do not conflict."""
    key = (urlsplit(admin_url).password or "").encode()
    return {name: hmac.new(key, name.encode(), hashlib.sha256).hexdigest() for name in ROLE_PASSWORDS}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests live as long as the process: the garbage collector ignores them, while they are made and afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report when the schemas of the providers were not compared with the providers' specifications."""
    ran = any("test_provider_references" in report.nodeid for report in terminalreporter.stats.get("passed", ()))
    if ran and references_folder() is None:
        terminalreporter.write_line(
            "Provider schemas: not compared with the specifications; REFERENCES_DIR is not set."
        )
