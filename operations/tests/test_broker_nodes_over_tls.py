"""RabbitMQ's nodes reach each other over TLS with the settings of the manifest, and refuse who has no certificate."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import yaml

from campus_tools.servers.ports import ServerPorts, held_ports
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from testkit.certificates import Authority

pytestmark = pytest.mark.long
CLUSTER = Path(__file__).parents[2] / "deploy/k8s/components/broker/cluster.yaml"
MOUNTED = "/etc/campus/nodes"
HOST = "localhost"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PrivateRabbitmq, tuple[int, int], Authority]]:
    """Yield the first of two nodes of a cluster, the ports between them, and the authority of their certificate."""
    folder, authority = tmp_path_factory.mktemp("nodes"), Authority()
    manifests = {it["kind"]: it for it in yaml.safe_load_all(CLUSTER.read_text())}
    files = {
        "options": manifests["ConfigMap"]["data"]["options"],
        "environment": manifests["RabbitmqCluster"]["spec"]["rabbitmq"]["envConfig"],
    }
    for name, text in files.items():
        (folder / name).write_text(text.replace(MOUNTED, str(folder)))
    (folder / "ca.crt").write_bytes(authority.pem)
    both = authority.issue(folder / "tls.crt", HOST)
    (folder / "tls.key").write_bytes(both.read_bytes())
    with ExitStack() as stack:
        ports = stack.enter_context(ServerPorts.held())
        names = ("amqp", "management", "prometheus", "distribution")
        own = dict(zip(names, stack.enter_context(held_ports(len(names))), strict=True))
        first = PrivateRabbitmq(folder / "first", ports, report=print, node="first")
        second = PrivateRabbitmq(folder / "second", replace(ports, **own), report=print, node="second", joins=first)
        for node in (first, second):
            # The arguments of the file apply where the variable is empty.
            node.environment = {
                "RABBITMQ_CONF_ENV_FILE": str(folder / "environment"),
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "",
            }
            node.start()
            stack.callback(node.stop)
        yield first, (ports.distribution, own["distribution"]), authority


def test_two_nodes_form_a_cluster_over_tls(nodes: tuple[PrivateRabbitmq, tuple[int, int], Authority]) -> None:
    first, _, _ = nodes
    found = httpx.get(f"{first.management_url}/api/nodes", timeout=30, trust_env=False).raise_for_status().json()
    assert {(node["name"], node["running"]) for node in found} == {
        ("first@localhost", True),
        ("second@localhost", True),
    }


def test_a_node_refuses_who_has_no_certificate(nodes: tuple[PrivateRabbitmq, tuple[int, int], Authority]) -> None:
    _, ports, authority = nodes
    for port in ports:
        with (
            socket.create_connection((HOST, port), timeout=30) as plain,
            pytest.raises(ssl.SSLError, match=r"(?i)alert|handshake"),
            authority.client.wrap_socket(plain, server_hostname=HOST) as connection,
        ):
            connection.recv(1)
