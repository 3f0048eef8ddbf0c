"""TLS between processes: which files stop the start, when new ones are used, and the way to PostgreSQL."""

import os
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from campus_tools.servers.ports import held_ports
from campus_tools.servers.postgresql import PrivatePostgresql
from common.auth.verification_keys import KeySet
from common.database.connecting import connect
from common.observability.telemetry import CERTIFICATE_ENDS_AT
from common.primitives.database_servers import DatabaseServers
from common.primitives.inside_tls import check_authorities, inside_client_tls, server_tls
from common.process.process_settings import ProcessSettings
from testkit.certificates import Authority
from testkit.fixtures import PATIENT
from testkit.service_kit import issuing, served

HOST = "127.0.0.1"


@pytest.fixture
def files(tmp_path: Path, authority: Authority) -> dict[str, str]:
    """Return the settings of a process with TLS."""
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    pair = str(authority.issue(tmp_path / "pair.pem", "orders-api"))
    return {
        "inside_ca_file": str(tmp_path / "ca.pem"),
        "inside_certificate_file": pair,
        "inside_key_file": pair,
    }


def test_start_is_refused_by_a_sentence_that_names_the_file(
    tmp_path: Path, files: dict[str, str], authority: Authority
) -> None:
    def refused(reason: str, **changed: str) -> None:
        with pytest.raises(ValueError, match=reason):
            ProcessSettings(port=8080, **{**files, **changed})

    assert ProcessSettings(port=8080, **files).server_tls
    other, ended = (
        str(authority.issue(tmp_path / f"{name}.pem", "a", days=days)) for name, days in (("other", 1), ("ended", -1))
    )
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    refused("missing.pem cannot be read: No such file", inside_ca_file=str(tmp_path / "missing.pem"))
    refused("missing.pem cannot be read: No such file", inside_key_file=str(tmp_path / "missing.pem"))
    refused("empty.pem holds no certificate as PEM", inside_ca_file=str(empty))
    refused("empty.pem holds no certificate as PEM", inside_certificate_file=str(empty))
    refused("ended.pem: the certificate ended at 20", inside_certificate_file=ended, inside_key_file=ended)
    refused("ended.pem: the certificate ended at 20", inside_ca_file=ended)
    refused("other.pem is not the key of the certificate in .*pair.pem", inside_key_file=other)
    refused("set together or not at all", inside_key_file="")


def test_authorities_of_which_one_is_valid_are_accepted(tmp_path: Path, files: dict[str, str]) -> None:
    mixed = tmp_path / "mixed.pem"
    ended = Authority().issue(tmp_path / "ended.pem", "a", days=-1)
    mixed.write_bytes(ended.read_bytes() + Path(files["inside_ca_file"]).read_bytes())
    check_authorities(str(mixed))


def peer_of(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> bytes | None:
    """Return the certificate that a client of this name receives."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(to_client, to_server, server_hostname=name)
    there = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(3):
        for side in (here, there):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return here.getpeercert(binary_form=True)


def test_a_new_pair_is_used_when_it_is_complete(files: dict[str, str], authority: Authority) -> None:
    pair = Path(files["inside_certificate_file"])
    server = server_tls(str(pair), str(pair))
    client = inside_client_tls(files["inside_ca_file"])
    first = peer_of(client, server, "orders-api")
    before = pair.read_bytes()
    pair.write_bytes(before[: len(before) // 2])
    assert peer_of(client, server, "orders-api") == first, "half a file leaves the former pair in use"
    authority.issue(pair, "orders-api", days=9)
    assert peer_of(client, server, "orders-api") != first
    (sample,) = (
        it for family in CERTIFICATE_ENDS_AT.collect() for it in family.samples if it.labels == {"name": "orders-api"}
    )
    assert sample.value == pytest.approx(pair.stat().st_mtime + 9 * 86_400, abs=60)


async def test_keys_are_fetched_from_identity_over_tls(
    tmp_path: Path, files: dict[str, str], authority: Authority
) -> None:
    async with issuing() as issuer:

        async def keys(scope, receive, send) -> None:
            content = str(issuer.jwks()).replace("'", '"').encode()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": content})

        async with served(keys, tls=authority.server_of(tmp_path, HOST)) as url:
            [entry] = issuer.jwks()["keys"]
            found = KeySet(url, issuer.clock, tls=inside_client_tls(files["inside_ca_file"]))
            assert await found.find(entry["kid"], entry["alg"])


@dataclass
class Postgresql:
    """A server with a certificate for 127.0.0.1, at `url`; `authorities` are those of its certificate."""

    url: str
    authorities: Path

    def servers(self, authorities: Path, host: str = HOST) -> DatabaseServers:
        port = urlsplit(self.url).port
        url = self.url.replace(f"{HOST}:{port}", f"{host}:{port}")
        return DatabaseServers.of(f"{url}?sslmode=verify-full&sslrootcert={authorities}")


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Postgresql]:
    folder = tmp_path_factory.mktemp("postgresql")
    (folder / "ca.pem").write_bytes(authority.pem)
    with held_ports(1) as [port]:
        server = PrivatePostgresql(folder, port, report=print, durable=False)
        pair = authority.issue(server.directory.parent / "pair.pem", HOST)
        owner = server.directory.stat()
        os.chown(pair, owner.st_uid, owner.st_gid)
        server.settings = {"ssl": "on", "ssl_cert_file": str(pair), "ssl_key_file": str(pair)}
        server.start()
        yield Postgresql(server.url, folder / "ca.pem")
        server.stop()


async def test_a_service_reaches_postgresql_over_tls(postgresql: Postgresql) -> None:
    connection = await connect(postgresql.servers(postgresql.authorities), "test", PATIENT)
    assert await connection.fetchval("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") is True
    await connection.close()


async def test_a_service_refuses_another_certificate_of_postgresql(tmp_path: Path, postgresql: Postgresql) -> None:
    (tmp_path / "other.pem").write_bytes(Authority().pem)
    with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer certificate"):
        await connect(postgresql.servers(tmp_path / "other.pem"), "test", PATIENT)
    assert socket.gethostbyname("localhost") == HOST
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        await connect(postgresql.servers(postgresql.authorities, "localhost"), "test", PATIENT)
