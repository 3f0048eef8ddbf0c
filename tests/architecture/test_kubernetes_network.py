"""The connections that the cluster allows are the calls of the code, no more and no less."""

import ipaddress
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from api_gateway.services import UPSTREAMS
from lab.cluster_check import is_selected
from operations.audit.access import AUDITED
from tests.architecture.kustomize import OVERLAYS, pod_of
from tests.architecture.manifests import (
    SETTINGS,
    environment_of,
    name_of,
    of_kind,
    processes,
    service_of,
    workloads,
)

OUTSIDE = "203.0.113.7"
ADDRESS_OF_THE_CLUSTER = "10.96.0.1"
# In the example network of components/managed.
MANAGED_SERVERS = "10.20.0.7"
ROLES = (
    "edge",
    "monitoring",
    "autoscaling",
    "database-operator",
    "broker-operator",
    "subscriber",
    "tracing",
    "stranger",
)
# Every port that something listens on, and some that nothing should.
PORTS = (
    22,
    25,
    53,
    80,
    443,
    465,
    587,
    2525,
    4318,
    4369,
    5432,
    5671,
    5672,
    6379,
    6443,
    8000,
    8080,
    8443,
    9090,
    9127,
    9187,
    15671,
    15672,
    15691,
    15692,
    25672,
    35672,
)

Edge = tuple[str, str, int]


class Place(NamedTuple):
    """Somewhere in the cluster: a pod of ours, or of a namespace with a role."""

    name: str
    labels: dict[str, str]
    namespace: dict[str, str]


def places(overlay: str) -> list[Place]:
    ours = {"kubernetes.io/metadata.name": "campus"}
    found = [Place(name_of(it), pod_of(it)["metadata"]["labels"], ours) for it in workloads(overlay)]
    for it in of_kind(overlay, "Cluster"):
        labels = {"cnpg.io/cluster": name_of(it), "cnpg.io/podRole": "instance", "cnpg.io/instanceRole": "primary"}
        found.append(Place(name_of(it), labels, ours))
    for it in of_kind(overlay, "Pooler"):
        labels = {"cnpg.io/cluster": it["spec"]["cluster"]["name"], "cnpg.io/poolerName": name_of(it)}
        found.append(Place(name_of(it), {**labels, "cnpg.io/podRole": "pooler"}, ours))
    for it in of_kind(overlay, "RabbitmqCluster"):
        labels = {"app.kubernetes.io/name": name_of(it), "app.kubernetes.io/component": "rabbitmq"}
        found.append(Place(name_of(it), {**labels, "app.kubernetes.io/part-of": "rabbitmq"}, ours))
    found += [Place(role, {}, {"campus.example/role": role}) for role in ROLES]
    found.append(Place("names", {"k8s-app": "kube-dns"}, {"kubernetes.io/metadata.name": "kube-system"}))
    return found


def is_meant(peer: dict[str, Any], other: Place | str) -> bool:
    if isinstance(other, str):
        block = peer.get("ipBlock")
        if block is None:
            return False
        address = ipaddress.ip_address(other)
        return address in ipaddress.ip_network(block["cidr"]) and not any(
            address in ipaddress.ip_network(part) for part in block.get("except", [])
        )
    if "ipBlock" in peer:
        return False
    if "namespaceSelector" in peer:
        if not is_selected(peer["namespaceSelector"], other.namespace):
            return False
    elif other.namespace.get("kubernetes.io/metadata.name") != "campus":
        return False
    return is_selected(peer.get("podSelector", {}), other.labels)


def open_ports(policies: list[dict[str, Any]], place: Place, direction: str, other: Place | str) -> set[int]:
    """Return the ports that the place's policies open to the other; a namespace without policies opens everything."""
    if place.namespace.get("kubernetes.io/metadata.name") != "campus":
        return set(PORTS)
    mine = [
        it
        for it in policies
        if direction.capitalize() in it["policyTypes"] and is_selected(it["podSelector"], place.labels)
    ]
    assert mine, f"nothing closes {place.name}"
    side = "to" if direction == "egress" else "from"
    opened = [
        (it["port"], it.get("endPort", it["port"]))
        for policy in mine
        for rule in policy.get(direction, [])
        if any(is_meant(peer, other) for peer in rule.get(side, []))
        for it in rule["ports"]
    ]
    return {port for port in PORTS if any(first <= port <= last for first, last in opened)}


def ports_open_to_anywhere(policies: list[dict[str, Any]], place: Place) -> set[int]:
    """Return the ports of the rules without a peer."""
    mine = [it for it in policies if is_selected(it["podSelector"], place.labels)]
    assert all("from" in rule for policy in mine for rule in policy.get("ingress", []))
    nameless = [rule for policy in mine for rule in policy.get("egress", []) if "to" not in rule]
    return {entry["port"] for rule in nameless for entry in rule["ports"]}


@cache
def open_edges(overlay: str) -> frozenset[Edge]:
    policies = [it["spec"] for it in of_kind(overlay, "NetworkPolicy")]
    everywhere = places(overlay)
    inside = [it for it in everywhere if it.namespace.get("kubernetes.io/metadata.name") == "campus"]
    found: set[Edge] = set()
    for source in everywhere:
        for target in everywhere:
            if source not in inside and target not in inside:
                continue
            outgoing = open_ports(policies, source, "egress", target)
            found |= {
                (source.name, target.name, port)
                for port in (outgoing and outgoing & open_ports(policies, target, "ingress", source))
            }
    for source in inside:
        for name, address in (
            ("outside", OUTSIDE),
            ("an-address-of-the-cluster", ADDRESS_OF_THE_CLUSTER),
            ("managed-servers", MANAGED_SERVERS),
        ):
            found |= {(source.name, name, port) for port in open_ports(policies, source, "egress", address)}
        found |= {(source.name, "anywhere", port) for port in ports_open_to_anywhere(policies, source)}
    for target in inside:
        found |= {("outside", target.name, port) for port in open_ports(policies, target, "ingress", OUTSIDE)}
    return frozenset(found)


# ---- What the code calls
# ------------------------------------------------------------------------------------------------

# Addresses that are shown to clients or compared, and never called.
STATED = {"base_url", "media_url"}
PORTS_OF_MAIL = {465, 587}


def database_of(overlay: str, service: str) -> str:
    """Return the cluster that holds the database of a service."""
    return "campus-db" if overlay == "small" else f"{service}-db"


def pooler_of(overlay: str, service: str) -> str:
    return "campus-pooler" if overlay == "small" else f"{service}-pooler"


def calls_of(overlay: str, service: str, process: str, *, has_endpoints: bool) -> set[Edge]:
    """Return the calls of one process, from the addresses that its settings declare."""
    edges: set[Edge] = set()
    is_managed = overlay == "managed"
    for name in SETTINGS[service].model_fields:
        if not name.endswith(("_url", "_endpoint")) or name in STATED:
            continue
        if name in ("api_database_url", "service_database_url"):
            edges.add((process, "managed-servers" if is_managed else pooler_of(overlay, service), 5432))
        elif name == "broker_url":
            edges.add((process, "managed-servers", 5671) if is_managed else (process, "broker", 5671))
        elif name == "rate_limit_store_url":
            edges.add((process, "valkey", 6379))
        elif name == "jwks_url" or name.removesuffix("_url") in SETTINGS:
            # API processes check tokens, forward requests and run the assistant.
            called = "identity" if name == "jwks_url" else name.removesuffix("_url")
            edges |= {(process, f"{called}-api", 8080)} if has_endpoints else set()
        elif name == "smtp_url":
            edges |= {(process, "outside", port) for port in PORTS_OF_MAIL}
        else:
            edges.add((process, "outside", 443))
    return edges


def expected_edges(overlay: str) -> set[Edge]:
    edges: set[Edge] = set()
    for process in processes(overlay):
        service, name = service_of(process), name_of(process)
        edges |= calls_of(overlay, service, name, has_endpoints=name.endswith("-api"))
        edges.add(("monitoring", name, 9090 if service == "api-gateway" else 8080))
    for it in of_kind(overlay, "CronJob"):
        if service_of(it) in SETTINGS:
            edges |= calls_of(overlay, service_of(it), name_of(it), has_endpoints=False)
    # The audit reads databases and payment gateways, and records its result.
    edges |= {
        ("audit", "managed-servers" if overlay == "managed" else database_of(overlay, service), 5432)
        for service in AUDITED
    }
    edges |= {("audit", "outside", 443), ("audit", "api-gateway-api", 8080)}
    for it in (*processes(overlay), *of_kind(overlay, "CronJob")):
        # Every process with a collector's address sends spans to it.
        if address := environment_of(overlay, it).get("OTEL_EXPORTER_OTLP_ENDPOINT"):
            edges.add((name_of(it), "tracing", urlsplit(address).port or 443))
    edges |= edges_of_managed_servers() if overlay == "managed" else edges_of_operated_servers(overlay)
    if overlay == "staging":
        edges |= edges_of_the_sandbox(overlay)
    # Webhooks, in addition to 443.
    edges.add(("notifications-worker", "outside", 8443))
    edges.add(("edge", "api-gateway-api", 8080))
    # The console is a client of the gateway, and nothing else.
    edges |= {("edge", "console", 8080), ("console", "api-gateway-api", 8080), ("monitoring", "console", 9090)}
    inside = [it.name for it in places(overlay) if it.namespace.get("kubernetes.io/metadata.name") == "campus"]
    return edges | {(name, "names", 53) for name in inside}


def edges_of_operated_servers(overlay: str) -> set[Edge]:
    edges: set[Edge] = set()
    for service in SETTINGS:
        database, pooler = database_of(overlay, service), pooler_of(overlay, service)
        edges |= {(f"{service}-migrate", database, 5432), (pooler, database, 5432)}
        # Replication and health checks of the other instances.
        edges |= {(database, database, 5432), (database, database, 8000)}
        edges |= {("database-operator", database, 5432), ("database-operator", database, 8000)}
        edges |= {("monitoring", database, 9187), ("monitoring", pooler, 9127)}
        # Each watches its object at the Kubernetes API, whose address no selector matches; backups use 443.
        edges |= {(place, "anywhere", port) for place in (database, pooler) for port in (443, 6443)}
    edges |= {("broker", "broker", port) for port in (4369, 25672, 35672)}
    edges |= {("monitoring", "broker", 15691), ("broker-operator", "broker", 15671)}
    edges |= {("broker-topology", "broker", 5671), ("subscriber", "broker", 5671)}
    edges.add(("subscriber-supervisor", "broker", 15671))
    if of_kind(overlay, "ScaledObject"):
        edges.add(("autoscaling", "broker", 15671))
    return edges


def edges_of_managed_servers() -> set[Edge]:
    edges = {(f"{service}-migrate", "managed-servers", 5432) for service in SETTINGS}
    administrators = ("provision", "subscriber-supervisor")
    return edges | {(name, "managed-servers", port) for name in administrators for port in (443, 5432, 5671)}


def edges_of_the_sandbox(overlay: str) -> set[Edge]:
    edges = {("sandbox", "api-gateway-api", 8080), ("audit", "sandbox", 8080)}
    for process in processes(overlay):
        if service_of(process) in ("payments", "payouts", "notifications"):
            edges.add((name_of(process), "sandbox", 8080))
        if service_of(process) == "notifications":
            edges.add((name_of(process), "sandbox", 2525))
    for service in ("identity", "orders", "payouts"):
        edges |= {(f"{service}-demo-data", pooler_of(overlay, service), 5432), (f"{service}-demo-data", "broker", 5671)}
    return edges


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_allowed_connections_are_the_calls_of_the_code(overlay) -> None:
    opened, called = open_edges(overlay), expected_edges(overlay)
    assert sorted(opened - called) == [], "open, and nobody calls there"
    assert sorted(called - opened) == [], "called, and closed"


def test_the_gateway_reaches_every_upstream_of_its_routes() -> None:
    reached = {target for source, target, _ in open_edges("production") if source == "api-gateway-api"}
    assert {f"{name}-api" for name in UPSTREAMS} == {name for name in reached if name.endswith("-api")}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_all_traffic_is_denied_by_default(overlay) -> None:
    (closed,) = [it["spec"] for it in of_kind(overlay, "NetworkPolicy") if name_of(it) == "deny-all"]
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_allowed_connection_has_an_existing_target(overlay) -> None:
    """A name in a setting that no Service has would only be found by a process that cannot start."""
    made = {name_of(it) for it in of_kind(overlay, "Service", "Pooler", "RabbitmqCluster")}
    for it in of_kind(overlay, "Service"):
        selected = [
            place for place in places(overlay) if is_selected({"matchLabels": it["spec"]["selector"]}, place.labels)
        ]
        assert len(selected) == 1, name_of(it)
    assert {target for _, target, port in expected_edges(overlay) if port in (8080, 6379, 5671)} - made <= {
        *(name_of(it) for it in processes(overlay)),
        "managed-servers",
    }
