"""Three RabbitMQ nodes, a PostgreSQL primary with a synchronous replica, and Redis, as processes of one machine."""

import asyncio
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import asyncpg
import httpx

from campus_tools.servers import ServerPorts, Servers, ServerUnavailable
from campus_tools.servers.postgresql import PrivatePostgresql
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from campus_tools.servers.redis import PrivateRedis
from lab.systems import Log
from operations.connecting import connected

# Ports above PORT_BASE that neither the process list nor the first node and the first database use.
_MORE_NODES: Final = (70, 74)
_PORTS_OF_A_NODE: Final = ("amqp", "management", "prometheus", "distribution")
_BROKER, _SECOND_DATABASE = 80, 81
# 23 processes with two pools each.
_CONNECTIONS_MAX: Final = "600"
_REPLICA: Final = "replica"
_MEMBERS: Final = 3
_CAUGHT_UP_SECONDS_MAX: Final = 120.0
_PROMOTED_SECONDS_MAX: Final = 60


@dataclass(slots=True)
class BrokerCluster:
    """Three nodes; clients reach them at one address, which the drill's balancer serves."""

    nodes: tuple[PrivateRabbitmq, ...]
    port: int

    name = "rabbitmq"
    private = True

    @property
    def url(self) -> str:
        parts = urlsplit(self.nodes[0].url)
        return parts._replace(netloc=f"{parts.netloc.rpartition(':')[0]}:{self.port}").geturl()

    @property
    def places(self) -> list[tuple[str, int, int]]:
        return [place for node in self.nodes for place in node.places]

    @property
    def ports(self) -> list[int]:
        """The AMQP port of each node."""
        return [urlsplit(node.url).port or 0 for node in self.nodes]

    def start(self) -> None:
        # A node joins the running first one; two at once may each wait for the other's lock.
        for node in self.nodes:
            node.start()

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()

    def stop(self) -> None:
        for node in reversed(self.nodes):
            node.stop()

    def has_died(self) -> bool:
        return any(node.has_died() for node in self.nodes)

    async def replication(self) -> tuple[int, int]:
        """Return the number of quorum queues, and of those with three members online."""
        queues = await self._quorum_queues()
        return len(queues), sum(len(queue.get("online", ())) == _MEMBERS for queue in queues)

    async def leader(self) -> int:
        """Return the place of the node that leads most quorum queues. `nodes`: by the number in their names."""
        leaders = Counter(queue["leader"] for queue in await self._quorum_queues())
        [(name, _)] = leaders.most_common(1)
        return int(name.partition("@")[0].rpartition("-")[2]) - 1

    async def _quorum_queues(self) -> list[dict[str, Any]]:
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            response = await client.get(f"{self.nodes[0].management_url}/api/queues")
        return [queue for queue in response.raise_for_status().json() if queue["type"] == "quorum"]


@dataclass(slots=True)
class ReplicatedDatabase:
    """A primary whose commits wait for its replica. Clients have both addresses, and use the primary.

    Not `read-write`: the audit's account is read-only on both.
    """

    primary: PrivatePostgresql
    replica: PrivatePostgresql

    name = "postgresql"
    private = True

    @property
    def url(self) -> str:
        hosts = ",".join(sorted(urlsplit(one.url).netloc.rpartition("@")[2] for one in (self.primary, self.replica)))
        parts = urlsplit(self.primary.url)
        netloc = f"{parts.netloc.rpartition('@')[0]}@{hosts}"
        return parts._replace(netloc=netloc, query="target_session_attrs=primary").geturl()

    @property
    def places(self) -> list[tuple[str, int, int]]:
        return [*self.primary.places, *self.replica.places]

    def start(self) -> None:
        for server in (self.primary, self.replica):
            server.settings |= {"max_connections": _CONNECTIONS_MAX, "wal_keep_size": "512MB"}
        self.primary.start()
        asyncio.run(self.add_replica())

    def kill(self) -> None:
        self.replica.kill()
        self.primary.kill()

    def stop(self) -> None:
        self.replica.stop()
        self.primary.stop()

    def has_died(self) -> bool:
        return self.primary.has_died() or self.replica.has_died()

    def remove_volume(self) -> None:
        """Delete the data of both servers."""
        for server in (self.primary, self.replica):
            shutil.rmtree(server.directory.parent, ignore_errors=True)

    async def add_replica(self) -> None:
        """Copy the primary to the stopped replica and start it: a former primary may have rows of its own."""
        await asyncio.to_thread(self._copy_primary)
        await self.start_replica()

    async def start_replica(self) -> None:
        """Start the replica, and let commits wait for it from now on. It catches up by itself.

        Raises:
            ServerUnavailable: it does not stream in time.
        """
        await asyncio.to_thread(self.replica.start)
        connection = await asyncpg.connect(self.primary.url)
        try:
            async with asyncio.timeout(_CAUGHT_UP_SECONDS_MAX):
                while not await connection.fetchval(
                    "SELECT true FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming'", _REPLICA
                ):
                    await connection.fetchval("SELECT pg_sleep(0.2)")
        except TimeoutError:
            raise ServerUnavailable("The replica does not stream from the primary.") from None
        finally:
            await connection.close()
        await self.require_replica(_REPLICA)

    def _copy_primary(self) -> None:
        directory = self.replica.directory
        shutil.rmtree(directory)
        self.primary.copy_to(directory)
        (directory / "standby.signal").touch()
        self.replica.give(directory)
        parts = urlsplit(self.primary.url)
        password = unquote(parts.password or "")
        self.replica.settings["primary_conninfo"] = (
            f"host={parts.hostname} port={parts.port} user={parts.username} password={password} "
            f"application_name={_REPLICA}"
        )

    async def require_replica(self, name: str) -> None:
        """Let commits wait for the replica of this name; an empty name: for none."""
        async with connected(self.primary.url) as connection:
            # No parameter is allowed here; the value is a constant of this module.
            await connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
            await connection.execute("SELECT pg_reload_conf()")
        # Also after a restart, which writes the settings anew.
        self.primary.settings["synchronous_standby_names"] = name

    async def promote(self) -> None:
        """Make the replica the primary; the former one must be dead. There is no replica until `add_replica`."""
        async with connected(self.replica.url) as connection:
            # Not a wait inside the server: the replay of the last records may cancel a statement.
            await connection.execute("SELECT pg_promote(false)")
            async with asyncio.timeout(_PROMOTED_SECONDS_MAX):
                while await connection.fetchval("SELECT pg_is_in_recovery()"):
                    await asyncio.sleep(0.1)
        self.primary, self.replica = self.replica, self.primary
        self.primary.settings.pop("primary_conninfo", None)
        self.replica.settings.pop("synchronous_standby_names", None)


def replicated_database(folder: Path, port_base: int, log: Log) -> ReplicatedDatabase:
    """Return a primary and its replica, not started."""
    primary = PrivatePostgresql(folder / "postgresql-1", ServerPorts.above(port_base).postgresql, report=log)
    # A copy of the primary has its password.
    kept = folder / "postgresql-2" / "servers"
    kept.mkdir(parents=True)
    shutil.copy(folder / "postgresql-1" / "servers" / "passwords.json", kept)
    replica = PrivatePostgresql(folder / "postgresql-2", port_base + _SECOND_DATABASE, report=log)
    return ReplicatedDatabase(primary, replica)


def scaled_servers(folder: Path, port_base: int, log: Log) -> tuple[Servers, BrokerCluster, ReplicatedDatabase]:
    """Return the servers of the drill, not started."""
    ports = ServerPorts.above(port_base)
    first = PrivateRabbitmq(folder / "rabbitmq-1", ports, report=log, node="campus-1")
    nodes = [first]
    for number, above in enumerate(_MORE_NODES, start=2):
        own = dict(zip(_PORTS_OF_A_NODE, range(port_base + above, port_base + above + 4), strict=True))
        node_ports = replace(ports, **own)
        nodes.append(
            PrivateRabbitmq(folder / f"rabbitmq-{number}", node_ports, report=log, node=f"campus-{number}", joins=first)
        )
    broker = BrokerCluster(tuple(nodes), port_base + _BROKER)
    database = replicated_database(folder, port_base, log)
    servers = Servers(
        database,
        broker,
        PrivateRedis(folder, ports.redis, report=log),
        first.management_url,
        folder,
        "three RabbitMQ nodes, PostgreSQL with a replica, and Redis as private processes",
    )
    return servers, broker, database
