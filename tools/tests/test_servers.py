"""The private servers restart after a power cut with everything that was confirmed."""

import asyncio
import contextlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import aio_pika
import asyncpg
import psutil
import pytest

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import Servers, ServerUnavailable, find_servers, start_servers
from campus_tools.servers.ports import ServerPorts
from campus_tools.servers.postgresql import PrivatePostgresql
from testkit.fixtures import eventually

_START_POSTGRESQL = """
import sys
from pathlib import Path
from campus_tools.servers.postgresql import PrivatePostgresql
PrivatePostgresql(Path(sys.argv[1]), int(sys.argv[2]), report=print).start()
"""


@pytest.fixture(scope="module")
def own_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    found = start_servers(tmp_path_factory.mktemp("servers"), free_port_base(), environment={})
    yield found
    found.stop()
    found.remove_data()


async def test_killed_postgresql_restarts_with_what_was_committed(own_servers: Servers) -> None:
    connection = await asyncpg.connect(own_servers.database_url)
    await connection.execute("CREATE TABLE committed (id int); INSERT INTO committed VALUES (1)")
    # An idle transaction holds a backend that must not outlive the kill.
    open_transaction = connection.transaction()
    await open_transaction.start()
    await connection.execute("INSERT INTO committed VALUES (2)")

    await asyncio.to_thread(own_servers.postgresql.kill)
    connection.terminate()
    await asyncio.to_thread(own_servers.postgresql.start)

    again = await asyncpg.connect(own_servers.database_url)
    assert [row["id"] for row in await again.fetch("SELECT id FROM committed")] == [1]
    await again.execute("DROP TABLE committed")
    await again.close()


async def test_postgresql_killed_from_outside_restarts_with_its_data(own_servers: Servers) -> None:
    connection = await asyncpg.connect(own_servers.database_url)
    await connection.execute("CREATE TABLE outside (id int); INSERT INTO outside VALUES (1)")
    [(_, process_id, _)] = own_servers.postgresql.places
    psutil.Process(process_id).kill()
    connection.terminate()

    def restart() -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(process_id).wait(60)
        own_servers.postgresql.start()

    while not own_servers.postgresql.has_died():
        await asyncio.sleep(0)
    await asyncio.to_thread(restart)
    again = await asyncpg.connect(own_servers.database_url)
    assert await again.fetchval("SELECT count(*) FROM outside") == 1
    await again.execute("DROP TABLE outside")
    await again.close()


async def test_killed_rabbitmq_restarts_with_what_was_confirmed(own_servers: Servers) -> None:
    connection = await aio_pika.connect(own_servers.broker_url)
    channel = await connection.channel(publisher_confirms=True)
    await channel.declare_queue("kept", durable=True, arguments={"x-queue-type": "quorum"})
    message = aio_pika.Message(b"confirmed", delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
    await channel.default_exchange.publish(message, routing_key="kept")
    # A quorum queue is safe from a power cut once the broker has written down where it lies, a moment after its birth.
    await eventually(lambda: any(b"kept" in path.read_bytes() for path in own_servers.state_dir.rglob("names.dets")))

    await asyncio.to_thread(own_servers.rabbitmq.kill)
    with contextlib.suppress(Exception):
        await connection.close()
    await asyncio.to_thread(own_servers.rabbitmq.start)

    connection = await aio_pika.connect(own_servers.broker_url)

    async def found() -> bytes | None:
        # A request before the queue has elected its leader gets no response: repeat it on a new channel.
        channel = await connection.channel()
        with contextlib.suppress(TimeoutError):
            message = await (await channel.get_queue("kept")).get(timeout=1, fail=False)
            return message.body if message is not None else None
        return None

    assert await eventually(found) == b"confirmed"
    await connection.close()


async def test_a_first_start_that_was_interrupted_is_made_good_by_the_next(
    tmp_path: Path, held_port: Callable[[], int]
) -> None:
    port = held_port()
    server = PrivatePostgresql(tmp_path, port, report=print, durable=False)
    state = server.directory.parent
    first = subprocess.Popen(
        [sys.executable, "-c", _START_POSTGRESQL, str(tmp_path), str(port)], stderr=subprocess.DEVNULL
    )
    # This file exists seconds before the cluster is complete.
    await eventually(lambda: any(state.glob("*/PG_VERSION")))
    first.send_signal(signal.SIGINT)
    await asyncio.to_thread(first.wait)

    try:
        await asyncio.to_thread(server.start)
        connection = await asyncpg.connect(server.url)
        assert await connection.fetchval("SELECT current_database()") == "postgres"
        await connection.close()
    finally:
        await asyncio.to_thread(server.stop)
        shutil.rmtree(state)


def test_a_given_address_that_is_none_is_refused_by_the_name_of_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable, match="DATABASE_URL is no address"):
        find_servers(
            tmp_path, ServerPorts.above(9000), environment={"DATABASE_URL": "nonsense", "BROKER_URL": "amqp://a/"}
        )


def test_a_given_server_that_does_not_respond_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("campus_tools.servers.given.CONNECT_SECONDS_MAX", 0.1)
    given = {"DATABASE_URL": "postgresql://u:p@127.0.0.1:1/x", "BROKER_URL": "amqp://u:p@127.0.0.1:1/"}
    found = find_servers(tmp_path, ServerPorts.above(9000), environment=given)
    assert found.database_url == given["DATABASE_URL"]
    assert found.broker_url == given["BROKER_URL"]
    assert found.management_url == "http://u:p@127.0.0.1:15672"
    with pytest.raises(ServerUnavailable, match=r"DATABASE_URL names 127\.0\.0\.1:1"):
        found.postgresql.start()
    with pytest.raises(ServerUnavailable, match="cannot be killed here"):
        found.rabbitmq.kill()


def test_all_servers_that_do_not_respond_are_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("campus_tools.servers.given.CONNECT_SECONDS_MAX", 0.1)
    given = {"DATABASE_URL": "postgresql://u:p@127.0.0.1:1/x", "BROKER_URL": "amqp://u:p@127.0.0.1:1/"}
    servers = find_servers(tmp_path, ServerPorts.above(9000), environment=given)
    with pytest.raises(ServerUnavailable, match=r"DATABASE_URL names .*\nBROKER_URL names "):
        servers.start()


def test_the_logs_of_the_servers_outlive_removed_data(tmp_path: Path) -> None:
    with ServerPorts.held() as ports:
        servers = find_servers(tmp_path, ports, environment={})
    folder = tmp_path / "servers"
    (folder / "data").mkdir()
    for name in ("postgresql.log", "postgresql.directory", "data/file"):
        (folder / name).write_text("/nowhere")
    servers.remove_data()
    assert [left.name for left in folder.iterdir()] == ["postgresql.log"]
