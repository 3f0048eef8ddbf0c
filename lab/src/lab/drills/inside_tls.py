"""TLS inside a drill's system: one authority, and a certificate for each server and service, which may be replaced."""

import asyncio
import os
import socket
import ssl
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from campus_tools.servers import ServerPorts, Servers
from campus_tools.servers.given import GivenServer
from campus_tools.servers.postgresql import PrivatePostgresql
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from campus_tools.servers.redis import PrivateRedis
from campus_tools.servers.server import Server
from lab.systems import Log
from operations.connecting import connected
from operations.processes import API_PORTS, SystemPlan
from testkit.certificates import Authority

HOST: Final = "127.0.0.1"
_HANDSHAKE_SECONDS_MAX: Final = 10.0
# A client of PostgreSQL requests TLS by this message.
_POSTGRESQL_TLS: Final = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
# Ports above PORT_BASE that no process of a doubled system uses. PostgreSQL has one port for both.
_BROKER, _STORE = 80, 81


@dataclass
class InsideTls:
    """The files of the authorities and certificates. Each file is replaced at once, as Kubernetes mounts a Secret."""

    folder: Path
    authority: Authority = field(default_factory=Authority)
    certificates: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.trust(self.authority)

    @property
    def authorities(self) -> Path:
        """The file with the authorities that every client trusts."""
        return self.folder / "ca.crt"

    def trust(self, *authorities: Authority) -> None:
        """Let every client trust these authorities and no other."""
        fresh = self.authorities.with_suffix(".new")
        fresh.write_bytes(b"".join(one.pem for one in authorities))
        fresh.replace(self.authorities)

    def certificate(self, file: Path) -> Path:
        """Issue a certificate with its key into a file."""
        self.certificates.append(file)
        return self.authority.issue(file, HOST)

    def replace_certificates(self) -> None:
        """Issue every certificate again, by the current authority and for the same user of the machine."""
        for file in self.certificates:
            owner = file.stat()
            fresh = self.authority.issue(file.with_suffix(".fresh"), HOST)
            os.chown(fresh, owner.st_uid, owner.st_gid)
            fresh.replace(file)

    def encrypted(self, plan: SystemPlan, port_base: int) -> SystemPlan:
        """Return the plan whose processes serve TLS, and reach each other by it."""
        addresses = {f"{name.upper()}_URL": f"https://{HOST}:{port_base + port}" for name, port in API_PORTS.items()}
        shared = {
            **addresses,
            "JWKS_URL": f"{addresses['IDENTITY_URL']}/.well-known/jwks.json",
            "INSIDE_CA_FILE": str(self.authorities),
        }
        own: dict[str, dict[str, str]] = {}
        for service in sorted({process.service for process in plan.processes} - {"sandbox"}):
            file = str(self.certificate(self.folder / f"{service}.pem"))
            own[service] = {"INSIDE_CERTIFICATE_FILE": file, "INSIDE_KEY_FILE": file}
        processes = [
            replace(process, environment={**process.environment, **shared, **own[process.service]})
            if process.service in own
            else process
            for process in plan.processes
        ]
        return replace(plan, processes=tuple(processes))


@dataclass(frozen=True, slots=True)
class EncryptedServers:
    """PostgreSQL, RabbitMQ and Redis that serve TLS."""

    running: Servers
    """To start and stop them; their addresses are plain."""
    given: Servers
    """Their addresses for the system, which demand TLS."""
    ports: dict[str, int]
    """The TLS port of each server."""
    store_file: Path

    async def reload(self) -> None:
        """Let PostgreSQL and Redis read their files again. RabbitMQ does so by itself.

        Raises:
            ConnectionError: Redis rejects its certificate.
        """
        async with connected(self.running.database_url) as connection:
            await connection.execute("SELECT pg_reload_conf()")
        store = urlsplit(self.running.rate_limit_store_url or "")
        reader, writer = await asyncio.open_connection(HOST, store.port)
        for command in (f"AUTH {store.password}", f"CONFIG SET tls-cert-file {self.store_file}"):
            writer.write(f"{command}\r\n".encode())
            if (response := await reader.readline()) != b"+OK\r\n":
                raise ConnectionError(f"Redis rejects a command: {response.decode()}")
        writer.close()


def encrypted_servers(folder: Path, port_base: int, inside: InsideTls, log: Log) -> EncryptedServers:
    """Return the servers, not started."""
    held = ServerPorts.above(port_base)
    postgresql = PrivatePostgresql(folder, held.postgresql, report=log)
    # The server's user has no access to the drill's folder.
    file = inside.certificate(postgresql.directory.parent / "server.pem")
    postgresql.give(file)
    postgresql.settings |= {"ssl": "on", "ssl_cert_file": str(file), "ssl_key_file": str(file)}
    broker_port, broker_file = port_base + _BROKER, inside.certificate(inside.folder / "rabbitmq.pem")
    settings = f"listeners.ssl.default = {HOST}:{broker_port}\nssl_options.certfile = {broker_file}\n"
    rabbitmq = PrivateRabbitmq(folder, held, report=log, settings=f"{settings}ssl_options.keyfile = {broker_file}\n")
    store_port, store_file = port_base + _STORE, inside.certificate(inside.folder / "redis.pem")
    settings = f"tls-port {store_port}\ntls-auth-clients no\ntls-cert-file {store_file}\n"
    redis = PrivateRedis(folder, held.redis, report=log, settings=f"{settings}tls-key-file {store_file}\n")
    running = Servers(postgresql, rabbitmq, redis, rabbitmq.management_url, folder, "private processes over TLS")
    trusted = inside.authorities
    given = replace(
        running,
        postgresql=_given(postgresql, "postgresql", held.postgresql, f"sslmode=verify-full&sslrootcert={trusted}"),
        rabbitmq=_given(rabbitmq, "amqps", broker_port, f"cafile={trusted}"),
        redis=_given(redis, "rediss", store_port, f"ssl_ca_certs={trusted}"),
    )
    ports = {"postgresql": held.postgresql, "rabbitmq": broker_port, "redis": store_port}
    return EncryptedServers(running, given, ports, store_file)


def _given(server: Server, scheme: str, port: int, query: str) -> GivenServer:
    parts = urlsplit(server.url)
    netloc = f"{parts.netloc.rpartition(':')[0]}:{port}"
    url = parts._replace(scheme=scheme, netloc=netloc, query=query).geturl()
    return GivenServer(server.name, url, variable=server.name, default_port=port)


def serves_from(port: int, authority: Authority, *, is_postgresql: bool = False) -> bool:
    """Return whether the server on the port presents a certificate of the authority."""
    with socket.create_connection((HOST, port), timeout=_HANDSHAKE_SECONDS_MAX) as plain:
        if is_postgresql:
            plain.sendall(_POSTGRESQL_TLS)
            plain.recv(1)
        try:
            authority.client.wrap_socket(plain, server_hostname=HOST).close()
        except ssl.SSLCertVerificationError:
            return False
        return True
