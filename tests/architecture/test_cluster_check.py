"""The findings of `make k8s-check` in a namespace; admission by the server needs a cluster."""

import copy
from typing import Any

import pytest

from lab.cluster_check import OPERATED, faults_of, roles_without_namespace
from tests.architecture.manifests import manifests

LABELS = {"app.kubernetes.io/part-of": "campus", "app.kubernetes.io/name": "orders"}
SELECTOR = {"matchLabels": {"app.kubernetes.io/name": "orders"}}
MONITORING = {"namespaceSelector": {"matchLabels": {"campus.example/role": "monitoring"}}}


def resource(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "labels": LABELS}, **copy.deepcopy(fields)}


def namespace_in_order() -> dict[str, dict[str, Any]]:
    """One process with all that belongs to it, by kind."""
    ready = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
    target = {"kind": "Deployment", "name": "orders-api"}
    peers = [MONITORING, {"podSelector": SELECTOR}]
    resources = [
        resource(
            "Pod",
            "orders-api-1",
            spec={"serviceAccountName": "orders", "automountServiceAccountToken": False},
            status={"phase": "Running", "conditions": ready},
        ),
        resource("Deployment", "orders-api", spec={"replicas": 1}),
        resource("CronJob", "audit", spec={"suspend": False}),
        resource("Service", "orders-api", spec={"selector": SELECTOR["matchLabels"]}),
        resource("EndpointSlice", "orders-api-x", endpoints=[{"conditions": {"ready": True}}]),
        resource("PodDisruptionBudget", "orders-api", spec={"selector": SELECTOR}, status={"disruptionsAllowed": 1}),
        resource("HorizontalPodAutoscaler", "orders-api", spec={"scaleTargetRef": target}),
        resource("NetworkPolicy", "orders-api", spec={"podSelector": SELECTOR, "ingress": [{"from": peers}]}),
        resource("RoleBinding", "edge", subjects=[{"kind": "ServiceAccount", "name": "proxy"}]),
    ]
    resources[4]["metadata"]["labels"] = {"kubernetes.io/service-name": "orders-api"}
    return {it["kind"]: it for it in resources}


def test_a_correct_namespace_has_no_fault() -> None:
    assert list(faults_of([*namespace_in_order().values()])) == []


@pytest.mark.parametrize(
    ("kind", "way", "value", "fault"),
    [
        ("Pod", "status.conditions", [], "pod orders-api-1 has no node"),
        ("Pod", "status.conditions", [{"type": "PodScheduled", "status": "True"}], "pod orders-api-1 is not ready"),
        ("Pod", "spec.automountServiceAccountToken", None, "pod orders-api-1 has a token of the cluster"),
        ("Deployment", "metadata.name", "payments-api", "autoscaler orders-api scales orders-api, which is not there"),
        ("Deployment", "spec.replicas", 0, "Deployment orders-api is stopped: it has 0 replicas"),
        ("CronJob", "spec.suspend", True, "CronJob audit is suspended"),
        ("EndpointSlice", "endpoints", None, "Service orders-api leads to no ready pod"),
        (
            "PodDisruptionBudget",
            "status.disruptionsAllowed",
            0,
            "disruption budget orders-api lets no pod go: a drain would wait",
        ),
        (
            "PodDisruptionBudget",
            "spec.selector",
            {"matchExpressions": [{"key": "app.kubernetes.io/name", "operator": "NotIn", "values": ["orders"]}]},
            "disruption budget orders-api holds no pod",
        ),
        (
            "NetworkPolicy",
            "spec.podSelector",
            {"matchLabels": {"app": "orders"}},
            'network policy orders-api means {"matchLabels": {"app": "orders"}}, which no pod is',
        ),
        (
            "RoleBinding",
            "subjects",
            [{"kind": "ServiceAccount", "name": "orders"}],
            "role binding edge gives the account orders a right over the cluster",
        ),
    ],
)
def test_each_fault_is_named(kind: str, way: str, value, fault: str) -> None:
    resources = namespace_in_order()
    *path, last = way.split(".")
    place = resources[kind]
    for name in path:
        place = place[name]
    place[last] = value
    assert list(faults_of([*resources.values()])) == [fault]


def test_a_pod_with_two_disruption_budgets_is_named() -> None:
    resources = namespace_in_order()
    second = copy.deepcopy(resources["PodDisruptionBudget"])
    second["metadata"]["name"] = "operator"
    faults = list(faults_of([*resources.values(), second]))
    assert faults == ["pod orders-api-1 cannot be evicted: orders-api and operator both hold it"]


def test_a_role_that_no_namespace_has_is_named() -> None:
    policy = namespace_in_order()["NetworkPolicy"]
    namespace = {"metadata": {"name": "prometheus", "labels": {"campus.example/role": "monitoring"}}}
    assert roles_without_namespace([policy], []) == {"monitoring"}
    assert roles_without_namespace([policy], [namespace]) == set()


def test_a_policy_may_name_servers_that_a_provider_runs() -> None:
    resources = namespace_in_order()
    pooler = {"podSelector": {"matchLabels": {"cnpg.io/poolerName": "orders-pooler"}}}
    resources["NetworkPolicy"]["spec"]["egress"] = [{"to": [pooler]}]
    assert list(faults_of([*resources.values()], absent=("cnpg.io/",))) == []
    assert len(list(faults_of([*resources.values()]))) == 1


@pytest.mark.parametrize(("overlay", "has_servers"), [("production", True), ("single-node", True), ("managed", False)])
def test_overlays_have_the_servers_of_the_operators_or_a_provider_s(overlay: str, has_servers: bool) -> None:
    kinds = {f"kind: {it['kind']}\n" for it in manifests(overlay)}
    assert (kinds >= OPERATED.keys()) is has_servers
    assert bool(kinds & OPERATED.keys()) is has_servers


def test_the_pods_of_an_audit_are_there_only_while_it_runs() -> None:
    resources = namespace_in_order()
    resources["NetworkPolicy"]["spec"]["podSelector"] = {"matchLabels": {"app.kubernetes.io/component": "audit"}}
    assert list(faults_of([*resources.values()])) == []
