"""Services and subscribing teams reach the broker over TLS, and only one whose certificate they trust."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aio_pika
import pytest
from aio_pika.exceptions import AMQPConnectionError

from campus_tools.servers.ports import ServerPorts, held_ports
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from common.messaging.bus import Bus, Outgoing
from common.messaging.declaring import declare_broker
from common.messaging.topology import declared_topology
from common.primitives.ids import new_id
from common.primitives.retry import RetryLadder
from operations.provision import provision_broker, service_broker_url, subscriber_broker_url
from operations.secrets import load_secrets
from operations.services import service_named
from sandbox.endpoints.certificates import AUTHORITY_FILE, Authority
from testkit.certificates import Authority as OtherAuthority
from testkit.fixtures import PATIENT

EXAMPLE = Path(__file__).parents[2] / "docs/examples/subscriber.py"
LADDER = {"RETRY_DELAYS_SECONDS": "0.1,0.2"}
ENVELOPE: dict[str, Any] = {
    "id": str(new_id()), "type": "orders.order_placed.v1", "source": "/services/orders", "subject": "one",
    "sequence": 1,
}  # fmt: skip
EVENT = Outgoing(json.dumps(ENVELOPE).encode(), ENVELOPE["id"], ENVELOPE["type"], None, {})
SECONDS_MAX = 60


@dataclass
class Broker:
    """A broker whose certificate is for `localhost` and `127.0.0.1`."""

    server: PrivateRabbitmq
    port: int
    authority: Path
    secrets: dict[str, str]

    def over_tls(self, url: str, host: str = "localhost") -> str:
        """Return the address of an account; the authority is the system's own, or the one that this program names."""
        login = urlsplit(url).netloc.rpartition("@")[0]
        return f"amqps://{login}@{host}:{self.port}/"

    def trusted(self, url: str, host: str = "localhost") -> str:
        return f"{self.over_tls(url, host)}?cafile={self.authority}"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("broker")
    authority, certificate = Authority.in_folder(folder), folder / "certificate.pem"
    certificate.touch(mode=0o600)
    certificate.write_bytes(authority.key_and_certificate("valid"))
    with ExitStack() as stack:
        [port] = stack.enter_context(held_ports(1))
        settings = (
            f"listeners.ssl.1 = 127.0.0.1:{port}\nlisteners.ssl.2 = 127.0.0.2:{port}\nssl_options.certfile = "
            f"{certificate}\n"
            f"ssl_options.keyfile = {certificate}\nssl_options.versions.1 = tlsv1.3\n"
        )
        ports = stack.enter_context(ServerPorts.held())
        server = PrivateRabbitmq(folder, ports, report=print, settings=settings)
        server.start()
        stack.callback(server.stop)
        secrets = load_secrets(folder, {})
        asyncio.run(declare_broker(server.url, LADDER))
        asyncio.run(provision_broker(server.management_url, server.url, secrets))
        yield Broker(server, port, folder / AUTHORITY_FILE, secrets)


def bus_of(url: str) -> Bus:
    return Bus(url, declared_topology(RetryLadder((0.1, 0.2))), "test", PATIENT.broker_connect)


async def test_a_team_receives_what_a_service_publishes_over_tls(broker: Broker, tmp_path: Path) -> None:
    team = broker.trusted(subscriber_broker_url(broker.server.url, broker.secrets))
    listening = await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLE),
        "--queue", "sub.demo.tls", "--types", EVENT.type, "--count", "1", "--store", str(tmp_path / "seen"),
        env={**os.environ, "SUBSCRIBER_BROKER_URL": team},
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert await asyncio.wait_for(listening.stdout.readline(), SECONDS_MAX) == b"listening\n"
    bus = bus_of(broker.trusted(service_broker_url(broker.server.url, service_named("orders"), broker.secrets)))
    try:
        assert await bus.publish([EVENT]) == [True]
    finally:
        await bus.close()
    output, _ = await asyncio.wait_for(listening.communicate(), SECONDS_MAX)
    assert output.decode().split() == ["1", EVENT.type, "one"]


async def test_a_service_refuses_a_broker_until_it_knows_its_authority(broker: Broker, tmp_path: Path) -> None:
    url = broker.over_tls(service_broker_url(broker.server.url, service_named("orders"), broker.secrets))
    authorities = tmp_path / "ca.pem"
    authorities.write_bytes(OtherAuthority().pem)
    bus = bus_of(f"{url}?cafile={authorities}")
    try:
        assert await bus.publish([EVENT]) == [False]
        authorities.write_bytes(broker.authority.read_bytes())
        assert await bus.publish([EVENT]) == [True], "each connection reads the file again"
    finally:
        await bus.close()


async def test_a_service_trusts_the_authorities_of_the_environment(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(broker.authority))
    bus = bus_of(broker.over_tls(service_broker_url(broker.server.url, service_named("orders"), broker.secrets)))
    try:
        assert await bus.publish([EVENT]) == [True]
    finally:
        await bus.close()


async def test_a_subscriber_refuses_a_broker_with_another_name(broker: Broker) -> None:
    url = broker.trusted(subscriber_broker_url(broker.server.url, broker.secrets), "127.0.0.2")
    with pytest.raises(AMQPConnectionError, match="certificate verify failed"):
        await aio_pika.connect(url, timeout=PATIENT.broker_connect)
