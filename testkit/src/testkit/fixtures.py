"""The pytest plugin of the workspace: real PostgreSQL and RabbitMQ for tests, and waiting with a probe.

Loaded with `-p testkit.fixtures`. A server starts when the first test requests it: from the environment, in Docker,
or as a private process on free ports, thrown away at the end. A PostgreSQL given by `DATABASE_URL` must not be one that
a running system uses: the tests set the passwords of the services' roles.

Fixtures:
    servers: the servers of the session, not started; `servers.postgresql.start()` and so on.
    postgresql: the started PostgreSQL, roles of all services present.
    fresh_database: `await fresh_database("orders")`, a migrated database that only one test uses at a time.
    empty_database: `await empty_database()`, the same without migrations.
    module_database: the same for all tests of one module.
    broker_url: a virtual host of its own on RabbitMQ for the module.
    management_url: RabbitMQ's management API with the administrator's account.
    authority: a certificate authority (`Authority`).
    access_lines: `access_lines()`, the lines of the access log so far, without log and service.
    clock: the clock of the test, which only the test moves.
    client: the HTTP client of the service that the fixture `app` opens.
    held_port: `held_port()`, a port to listen on, reserved until the test is over.

A service that a test opens waits a minute for its own servers (`PATIENT`); in processes of their own the limits are as
shipped.
"""

import asyncio
import gc
import hashlib
import hmac
import io
import json
import os
import uuid
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import hypothesis
import pytest
import pytest_asyncio
import uvloop

from campus_tools.servers import Server, Servers, held_ports
from common.observability import access_log
from common.primitives.clock import ManualClock
from operations.provision import provision_roles
from operations.secrets import ROLE_PASSWORDS
from operations.waiting import NeverHappened as NeverHappened
from operations.waiting import eventually as eventually
from testkit.certificates import Authority
from testkit.databases import PATIENT as PATIENT
from testkit.databases import WAIT_SECONDS_MAX as WAIT_SECONDS_MAX
from testkit.databases import Databases, alone
from testkit.databases import DatabaseUrls as DatabaseUrls
from testkit.providers.references import references_folder
from testkit.virtual_hosts import VirtualHost, virtual_host
from testkit.workers import collecting, run_of, shared_environment, throwaway_servers

# The duration of an example depends on the machine: a slow example is not wrong, and not repeated.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")

# The event loop of the services' processes, for a seventh less CPU.
with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())


DatabaseFactory = Callable[[str], Awaitable[DatabaseUrls]]
EmptyDatabaseFactory = Callable[[], Awaitable[DatabaseUrls]]


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> Iterator[Servers]:
    """Yield the session's source of PostgreSQL, RabbitMQ and Redis. None is started, unless workers share them."""
    shared = shared_environment(pytestconfig)
    with throwaway_servers({**os.environ, **shared} if shared else None) as found:
        yield found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def postgresql(servers: Servers) -> Server:
    """Return the started PostgreSQL with the roles of all services."""
    await asyncio.to_thread(servers.postgresql.start)
    async with alone(servers.database_url, "roles") as connection:
        await provision_roles(connection, role_passwords(servers.database_url))
    return servers.postgresql


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _databases(servers: Servers, postgresql: Server, pytestconfig: pytest.Config) -> AsyncIterator[Databases]:
    run = run_of(pytestconfig)
    databases = Databases(servers.database_url, run or uuid.uuid4().hex[:8], role_passwords(servers.database_url))
    yield databases
    await databases.close(with_templates=run is None)


@pytest_asyncio.fixture(loop_scope="session")
async def fresh_database(_databases: Databases) -> AsyncIterator[DatabaseFactory]:
    """`await fresh_database("orders")`: a migrated database of that service, reset after the test."""
    async with _databases.lending() as make:
        yield make


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def module_database(_databases: Databases) -> AsyncIterator[DatabaseFactory]:
    """As `fresh_database`, reset after the module."""
    async with _databases.lending() as make:
        yield make


@pytest_asyncio.fixture(loop_scope="session")
async def empty_database(_databases: Databases) -> AsyncIterator[EmptyDatabaseFactory]:
    """`await empty_database()`: a database without tables, the three roles present, dropped after the test."""
    async with _databases.creating() as make:
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
    """Return the AMQP address of a virtual host for this module alone, with the whole map declared there."""
    await _virtual_host.prepare()
    return _virtual_host.url


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


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
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Let the garbage collector ignore modules and tests: they live as long as the process."""
    gc.disable()
    try:
        with collecting(session.config):
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


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def client(app: Any) -> httpx.AsyncClient:
    client: httpx.AsyncClient = app.client
    return client


@pytest.fixture
def access_lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Let this process write its access log, and return a function that returns the lines so far."""
    written = io.StringIO()

    def lines() -> list[dict[str, Any]]:
        parsed = [json.loads(line) for line in written.getvalue().splitlines()]
        return [{name: line[name] for name in line if name not in ("log", "service")} for line in parsed]

    access_log.start("tests", enabled=True, output=written)
    yield lines
    access_log.start("tests", enabled=False)
