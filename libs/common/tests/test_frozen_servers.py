"""A server that freezes instead of dying: connections stay open, and nothing answers."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

import asyncpg
import pytest
import pytest_asyncio

from common.auth.caller import THE_SERVICE
from common.database.connection_pool import ConnectionPool
from common.database.errors import DatabaseUnavailable
from common.database.single_statements import commit_alone
from common.database.unit_of_work import Database
from common.messaging import bus as bus_module
from common.messaging.bus import Bus
from common.primitives.database_servers import DatabaseServers, NoSuchServer
from common.primitives.limits import WaitLimits
from testkit.fixtures import PATIENT, eventually
from testkit.frozen_proxy import FrozenProxy, frozen_proxy

from .breaking_connection import BreakingConnection
from .conftest import Mechanisms
from .notebook import OF_OWNER, Notebook, all_published, consuming, dispatched, publish, rows

# aiormq gives a silent broker up after six seconds with a heartbeat of one.
HEARTBEAT = "heartbeat=1"
WITHIN_SECONDS = 30.0


@pytest_asyncio.fixture(loop_scope="session")
async def through_proxy(bus: Bus, broker_url: str) -> AsyncIterator[tuple[FrozenProxy, Bus]]:
    """Yield a bus whose broker can freeze."""
    async with frozen_proxy(f"{broker_url}?{HEARTBEAT}") as (proxy, url):
        own = Bus(url, bus.topology, "test", PATIENT.broker_connect)
        yield proxy, own
        await own.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits below the heartbeat's, so that each of them is reached."""
    for name in ("CONFIRM_SECONDS_MAX", "SETTLE_SECONDS_MAX", "OPEN_SECONDS_MAX", "PUBLISH_SECONDS_MAX"):
        monkeypatch.setattr(bus_module, name, 2.0)


@pytest.mark.parametrize("gives_up", [True, False], ids=["until it is given up", "for a moment"])
async def test_relay_consumers_and_listener_go_on_after_a_frozen_broker(
    gives_up: bool, mechanisms: Mechanisms, through_proxy: tuple[FrozenProxy, Bus], impatient: None
) -> None:
    proxy, bus = through_proxy
    notebook, received = Notebook(), list[str]()

    async def on_message(message) -> None:
        received.append(message.message_id)
        with suppress(Exception):
            await message.ack()

    listening = asyncio.create_task(bus.listen(["orders.order_dispatched.v1"], on_message))
    async with consuming(mechanisms, bus, notebook):
        before = dispatched()
        await publish(mechanisms, before)
        await eventually(lambda: rows(mechanisms, OF_OWNER, before.order_id))
        await eventually(lambda: bus.seconds_without_broadcasts() == 0.0)
        proxy.freeze()
        first = bus._connection
        during = [dispatched() for _ in range(3)]
        await publish(mechanisms, *during)
        if gives_up:
            # The pending opening of a channel is cancelled by the library then.
            await eventually(lambda: not first.connected.is_set(), within=WITHIN_SECONDS)
        else:
            await eventually(lambda: bus._publishing is None, within=WITHIN_SECONDS)
        proxy.resume()
        after = dispatched()
        await publish(mechanisms, after)
        for event in (*during, after):
            await eventually(lambda event=event: rows(mechanisms, OF_OWNER, event.order_id), within=WITHIN_SECONDS)
        await eventually(lambda: all_published(mechanisms), within=WITHIN_SECONDS)
        await eventually(lambda: bus.is_consuming, within=WITHIN_SECONDS)
        assert not listening.done()
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


@pytest_asyncio.fixture(loop_scope="session")
async def frozen_database(mechanisms: Mechanisms) -> AsyncIterator[tuple[FrozenProxy, Database]]:
    """Yield a database that can freeze, with a limit of half a second for each wait."""
    async with frozen_proxy(mechanisms.urls.service) as (proxy, url):
        limits = WaitLimits(connection_acquire=PATIENT.connection_acquire, statement=0.5, commit=0.5)
        async with Database.connect(api_url=url, service_url=url, name="test", limits=limits) as database:
            yield proxy, database
            proxy.resume()


async def test_a_database_without_a_response_is_unavailable(frozen_database: tuple[FrozenProxy, Database]) -> None:
    proxy, database = frozen_database
    for freezes_before in ("BEGIN", "a statement", "COMMIT", "a read alone"):
        await database.fetch_for(THE_SERVICE, "SELECT 1")
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable):
            await _work(proxy, database, freezes_before)
        assert time.monotonic() - began < 5.0, freezes_before
        proxy.resume()


async def _work(proxy: FrozenProxy, database: Database, freezes_before: str) -> None:
    if freezes_before == "a read alone":
        proxy.freeze()
        await database.fetch_for(THE_SERVICE, "SELECT 1")
    if freezes_before == "BEGIN":
        proxy.freeze()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if freezes_before == "a statement":
            proxy.freeze()
        await uow.fetch_value("SELECT 1")
        if freezes_before == "COMMIT":
            proxy.freeze()


async def test_a_frozen_server_does_not_hide_the_next_one(mechanisms: Mechanisms) -> None:
    url = urlsplit(mechanisms.urls.service)
    account, _, host = url.netloc.rpartition("@")
    async with frozen_proxy(url.geturl()) as (proxy, _):
        proxy.freeze()
        both = f"{account}@127.0.0.1:{proxy.port},{host}"
        address = url._replace(netloc=both, query="target_session_attrs=primary").geturl()
        limits = WaitLimits(connection_acquire=4.0)
        async with Database.connect(api_url=address, service_url=address, name="test", limits=limits) as database:
            assert await database.fetch_for(THE_SERVICE, "SELECT 1")
        servers = DatabaseServers.of(address)
        await (await servers.connect(timeout=4.0)).close()
        assert [urlsplit(one).netloc for one in servers.addresses] == [url.netloc, f"{account}@127.0.0.1:{proxy.port}"]
        accepted = proxy.accepted
        await (await servers.connect(timeout=4.0)).close()
        assert proxy.accepted == accepted


async def test_the_address_of_several_servers_without_a_primary_is_an_outage(mechanisms: Mechanisms) -> None:
    url = urlsplit(mechanisms.urls.service)
    account, _, host = url.netloc.rpartition("@")
    address = url._replace(netloc=f"{account}@127.0.0.1:1,{host}", query="target_session_attrs=standby").geturl()
    with pytest.raises(NoSuchServer):
        await DatabaseServers.of(address).connect()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await DatabaseServers.of(url._replace(netloc=f"{account}x@{host},127.0.0.1:1").geturl()).connect()


async def test_a_balancer_that_hangs_up_does_not_hide_the_next_server(mechanisms: Mechanisms) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        # No TLS; then the server behind it is gone.
        writer.write(b"N")
        await reader.read(1)
        writer.close()

    url = urlsplit(mechanisms.urls.service)
    account, _, host = url.netloc.rpartition("@")
    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as balancer:
        port = balancer.sockets[0].getsockname()[1]
        servers = DatabaseServers.of(url._replace(netloc=f"{account}@127.0.0.1:{port},{host}").geturl())
        connections = await asyncio.gather(*[servers.connect() for _ in range(3)])
        assert urlsplit(servers.addresses[0]).netloc == url.netloc
        assert len(servers.addresses) == 2
        for connection in connections:
            await connection.close()


async def test_an_outage_of_the_database_is_unavailable() -> None:
    nowhere = "postgresql://nobody:nothing@127.0.0.1:1/none"
    with pytest.raises((DatabaseUnavailable, OSError)):
        await open_database(nowhere)


async def test_the_moments_without_a_server_that_accepts_writes_are_an_outage(mechanisms: Mechanisms) -> None:
    # As during a failover: a server responds, and is not of the demanded kind.
    standby_only = f"{mechanisms.urls.service}?target_session_attrs=standby"
    pool = ConnectionPool(DatabaseServers.of(standby_only).connect, 1)
    database = replace(mechanisms.database, service=pool)
    with pytest.raises(DatabaseUnavailable):
        async with database.unit_of_work(acting_as=THE_SERVICE):
            raise AssertionError("the server is no standby")
    await pool.close()


async def test_a_backend_that_ends_during_a_statement_is_an_outage(mechanisms: Mechanisms) -> None:
    # Streams and loops know DatabaseUnavailable, and no error of the driver.
    ending = "SELECT pg_terminate_backend(pg_backend_pid())"
    with pytest.raises(DatabaseUnavailable):
        async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await uow.fetch(ending)
    with pytest.raises(DatabaseUnavailable):
        await mechanisms.database.fetch_for(THE_SERVICE, ending)


async def test_a_rejected_login_is_an_outage_of_a_single_statement(mechanisms: Mechanisms) -> None:
    # Between the two steps of a rotation, and in the moments of a restore.
    rejected = mechanisms.urls.service.replace("@", "x@", 1)
    database = replace(mechanisms.database, service=ConnectionPool(DatabaseServers.of(rejected).connect, 1))
    with pytest.raises(DatabaseUnavailable):
        await commit_alone(database, "SELECT 1")


async def test_a_rollback_on_a_breaking_connection_keeps_the_error_of_the_work(mechanisms: Mechanisms) -> None:
    # Otherwise a 503 becomes a 500, and a message uses one of its attempts.
    connect = partial(asyncpg.connect, mechanisms.urls.service, connection_class=BreakingConnection)
    database = replace(mechanisms.database, service=ConnectionPool(connect, 1))
    with pytest.raises(LookupError):
        async with database.unit_of_work(acting_as=THE_SERVICE):
            raise LookupError
    assert database.service.size == 0


async def open_database(url: str) -> None:
    async with (
        Database.connect(api_url=url, service_url=url, name="test") as database,
        database.unit_of_work(acting_as=THE_SERVICE),
    ):
        raise AssertionError("nobody listens there")
