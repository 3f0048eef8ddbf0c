"""Finds PostgreSQL and RabbitMQ (and Redis on request): given by the environment, in Docker, or as local processes.

The same provider serves `make run` and the tests (architecture, sections 6 and 8).
"""

import os
import shutil
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from campus_tools.servers.errors import ServerUnavailable
from campus_tools.servers.given import GivenServer
from campus_tools.servers.passwords import server_password
from campus_tools.servers.ports import ServerPorts
from campus_tools.servers.postgresql import PrivatePostgresql, remove_data_directory
from campus_tools.servers.rabbitmq import PrivateRabbitmq, speaks_amqp
from campus_tools.servers.redis import PrivateRedis
from campus_tools.servers.server import KeepsVolume, Server
from operations.ports import is_listening

if TYPE_CHECKING:
    from campus_tools.servers.docker import ContainerServer

POSTGRESQL_IMAGE = "postgres:17"
RABBITMQ_IMAGE = "rabbitmq:4.3.5-management"


@dataclass(frozen=True)
class Servers:
    """The servers of one system. Addresses are known before a server runs; each is started when first needed."""

    postgresql: Server
    rabbitmq: Server
    redis: Server | None
    management_url: str
    """RabbitMQ's management API with the administrator's account, `http://user:password@host:port`."""
    state_dir: Path
    origin: str
    """The origin of the servers as one sentence."""

    @property
    def database_url(self) -> str:
        return self.postgresql.url

    @property
    def broker_url(self) -> str:
        return self.rabbitmq.url

    @property
    def rate_limit_store_url(self) -> str | None:
        return self.redis.url if self.redis is not None else None

    @property
    def all(self) -> list[Server]:
        """All servers in the order of starting."""
        return [server for server in (self.postgresql, self.rabbitmq, self.redis) if server is not None]

    def start(self) -> None:
        """Start all servers concurrently. When one fails, the others are stopped again.

        Raises:
            ServerUnavailable: with the reason and the remedy of each server that did not start.
        """
        try:
            with ThreadPoolExecutor(len(self.all)) as pool:
                started = [pool.submit(server.start) for server in self.all]
            errors = [error for it in started if (error := it.exception()) is not None]
            for error in errors:
                if not isinstance(error, ServerUnavailable):
                    raise error
            if errors:
                raise ServerUnavailable("\n".join(map(str, errors)))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop all servers concurrently; the data stays."""
        with ThreadPoolExecutor(len(self.all)) as pool:
            list(pool.map(lambda server: server.stop(), self.all))

    def remove_data(self) -> None:
        """Delete the data of stopped private servers but their logs; for temporary ones."""
        remove_data_directory(self.state_dir)
        for server in self.all:
            if isinstance(server, KeepsVolume):
                server.remove_volume()
        for left in (self.state_dir / "servers").glob("*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            elif left.suffix != ".log":
                left.unlink(missing_ok=True)


def find_servers(
    state_dir: Path,
    ports: ServerPorts,
    *,
    environment: Mapping[str, str] | None = None,
    redis: bool = False,
    durable: bool = True,
    containers: bool = True,
    report: Callable[[str], None] = print,
) -> Servers:
    """Decide the source of each server, without starting any.

    A server whose address is in `environment` is used as it is; the others run in Docker when its engine responds, else
    by local binaries. `redis` requests a private Redis when no `RATE_LIMIT_STORE_URL` is given. Without `durable` a
    private PostgreSQL does not wait for the disk: for temporary data. Without `containers` only local binaries are
    used.
    """
    given = os.environ if environment is None else environment
    state_dir = state_dir.resolve()
    state_dir.mkdir(parents=True, exist_ok=True)
    origins: list[str] = []
    docker_works = False
    if containers and not (given.get("DATABASE_URL") and given.get("BROKER_URL")):
        docker_works = _docker_offers_servers(given, report)

    postgresql: Server
    if database_url := given.get("DATABASE_URL"):
        postgresql = GivenServer("postgresql", database_url, variable="DATABASE_URL", default_port=5432)
        origins.append("PostgreSQL from DATABASE_URL")
    elif docker_works:
        postgresql = _postgresql_container(state_dir, ports)
        origins.append(f"PostgreSQL in a container of {POSTGRESQL_IMAGE}")
    else:
        postgresql = PrivatePostgresql(state_dir, ports.postgresql, report=report, durable=durable)
        origins.append("PostgreSQL as a private process")

    rabbitmq: Server
    if broker_url := given.get("BROKER_URL"):
        rabbitmq = GivenServer("rabbitmq", broker_url, variable="BROKER_URL", default_port=5672)
        management_url = given.get("BROKER_MANAGEMENT_URL") or _usual_management_url(broker_url)
        origins.append("RabbitMQ from BROKER_URL")
    elif docker_works:
        rabbitmq, management_url = _rabbitmq_container(state_dir, ports)
        origins.append(f"RabbitMQ in a container of {RABBITMQ_IMAGE}")
    else:
        rabbitmq = private = PrivateRabbitmq(state_dir, ports, report=report)
        management_url = private.management_url
        origins.append("RabbitMQ as a private process")

    store: Server | None = None
    if store_url := given.get("RATE_LIMIT_STORE_URL"):
        store = GivenServer("redis", store_url, variable="RATE_LIMIT_STORE_URL", default_port=6379)
    elif redis:
        store = PrivateRedis(state_dir, ports.redis, report=report)
    return Servers(postgresql, rabbitmq, store, management_url, state_dir, ", ".join(origins))


def start_servers(
    state_dir: Path,
    port_base: int,
    *,
    environment: Mapping[str, str] | None = None,
    redis: bool = False,
    report: Callable[[str], None] = print,
) -> Servers:
    """Find the servers and start them, on the ports above `port_base` (+60 PostgreSQL, +61 AMQP, +62 management).

    Raises:
        ServerUnavailable: one could be neither found nor started; the message names the remedy.
    """
    servers = find_servers(state_dir, ServerPorts.above(port_base), environment=environment, redis=redis, report=report)
    servers.start()
    return servers


def _docker_offers_servers(given: Mapping[str, str], report: Callable[[str], None]) -> bool:
    if not _docker_engine_listens():
        return False
    from campus_tools.servers import docker

    images = {"DATABASE_URL": POSTGRESQL_IMAGE, "BROKER_URL": RABBITMQ_IMAGE}
    try:
        docker.have_images([image for variable, image in images.items() if not given.get(variable)], report)
    except ServerUnavailable as error:
        report(f"A Docker engine listens, but {error}. Using local processes instead.")
        return False
    return True


def _docker_engine_listens() -> bool:
    """Return whether a local Docker engine has its socket: a remote one would publish the ports on its own host."""
    address = urlsplit(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    return address.scheme == "npipe" or (address.scheme == "unix" and Path(address.path).is_socket())


def _postgresql_container(state_dir: Path, ports: ServerPorts) -> "ContainerServer":
    from campus_tools.servers import docker

    password = server_password(state_dir, "postgresql")
    plan = docker.ContainerPlan(
        name="postgresql",
        image=POSTGRESQL_IMAGE,
        url=f"postgresql://postgres:{quote(password)}@127.0.0.1:{ports.postgresql}/postgres",
        ports=[(ports.postgresql, 5432)],
        variables={"POSTGRES_PASSWORD": password, "POSTGRES_INITDB_ARGS": "--no-locale --encoding=UTF8"},
        volume_path="/var/lib/postgresql/data",
        arguments=["postgres", "-c", "max_connections=300"],
        ready=lambda: _speaks_postgresql(ports.postgresql),
    )
    return docker.ContainerServer(plan, state_dir)


def _rabbitmq_container(state_dir: Path, ports: ServerPorts) -> "tuple[ContainerServer, str]":
    from campus_tools.servers import docker

    password = server_password(state_dir, "rabbitmq")
    plan = docker.ContainerPlan(
        name="rabbitmq",
        image=RABBITMQ_IMAGE,
        url=f"amqp://campus:{password}@127.0.0.1:{ports.amqp}/",
        ports=[(ports.amqp, 5672), (ports.management, 15672), (ports.prometheus, 15692)],
        variables={
            "RABBITMQ_DEFAULT_USER": "campus",
            "RABBITMQ_DEFAULT_PASS": password,
            # The data directory contains the node's name, so it must be the same in the next container.
            "RABBITMQ_NODENAME": "campus@localhost",
        },
        volume_path="/var/lib/rabbitmq",
        arguments=[],
        ready=lambda: speaks_amqp(ports.amqp) and is_listening(ports.management),
    )
    return docker.ContainerServer(plan, state_dir), f"http://campus:{password}@127.0.0.1:{ports.management}"


def _speaks_postgresql(port: int) -> bool:
    """Return whether PostgreSQL itself responds: Docker's proxy accepts connections earlier.

    The response to an SSL request is one byte, also while the server starts up. The first start's temporary server
    listens on no port and does not count.
    """
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.settimeout(2)
            connection.sendall(b"\x00\x00\x00\x08\x04\xd2\x16\x2f")
            return connection.recv(1) in (b"N", b"S")
    except OSError:
        return False


def _usual_management_url(broker_url: str) -> str:
    parts = urlsplit(broker_url)
    account = parts.netloc.rpartition("@")[0] or "guest:guest"
    scheme, port = ("https", 15671) if parts.scheme == "amqps" else ("http", 15672)
    return f"{scheme}://{account}@{parts.hostname or '127.0.0.1'}:{port}"
