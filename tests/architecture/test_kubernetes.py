"""The pods, alerts and scalers of deploy/k8s match the code. No test here needs a cluster."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from common.messaging.topology import declared_topology
from common.primitives.retry import RetryLadder
from common.process.server import DRAIN_SECONDS
from tests.architecture.kustomize import FOLDER, OVERLAYS, Resource, containers_of, pod_of
from tests.architecture.manifests import (
    SETTINGS,
    environment_of,
    manifests,
    name_of,
    of_kind,
    processes,
    requests_of,
    service_of,
    workloads,
)
from tests.architecture.sources import ROOT

RULES = ROOT / "deploy/observability/prometheus/rules"
COMPONENT = "app.kubernetes.io/component"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_pod_is_confined(overlay) -> None:
    for workload in workloads(overlay):
        pod = pod_of(workload)["spec"]
        assert pod["automountServiceAccountToken"] is False, name_of(workload)
        assert pod["enableServiceLinks"] is False, "variables of Services could be taken for settings"
        assert pod["serviceAccountName"] in {name_of(it) for it in of_kind(overlay, "ServiceAccount")}
        context = pod["securityContext"]
        assert context["runAsNonRoot"] is True
        assert context["runAsUser"] > 0
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        kinds = {key for volume in pod["volumes"] for key in volume} - {"name", "emptyDir"}
        # The sandbox keeps its ledger, and the certificate authorities of a provider's database are public.
        assert kinds <= {"secret", "persistentVolumeClaim" if name_of(workload) == "sandbox" else "configMap"}
        assert_only_own_keys(overlay, workload, [it["secret"] for it in pod["volumes"] if "secret" in it])
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
            assert "memory" in container["resources"]["limits"]
    (namespace,) = of_kind(overlay, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert all(it["automountServiceAccountToken"] is False for it in of_kind(overlay, "ServiceAccount"))


def assert_only_own_keys(overlay: str, workload: Resource, mounted: list[dict[str, Any]]) -> None:
    """Check that a pod has the private key of its service or none: of the authority it gets the certificate."""
    made = {it["spec"]["secretName"]: it["spec"] for it in of_kind(overlay, "Certificate")}
    for secret in mounted:
        assert secret["secretName"] in made, "no Certificate fills it"
        if secret["secretName"] != f"{service_of(workload)}-tls":
            assert secret == {"secretName": "inside-authority", "items": [{"key": "ca.crt", "path": "ca.crt"}]}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_accounts_are_those_of_the_image(overlay) -> None:
    users = re.findall(r"--uid (\d+) .* (campus\S*)", (ROOT / "deploy/Dockerfile").read_text())
    names = {int(number): name for number, name in users}
    for workload in workloads(overlay):
        if service_of(workload) in SETTINGS:
            user = pod_of(workload)["spec"]["securityContext"]["runAsUser"]
            is_migration = workload["metadata"]["labels"][COMPONENT] == "migration"
            assert names[user] == ("campus-migration" if is_migration else "campus")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_process_has_health_probes_on_its_internal_port(overlay) -> None:
    for process in processes(overlay):
        (container,) = pod_of(process)["spec"]["containers"]
        ports = {it["name"]: it["containerPort"] for it in container["ports"]}
        given = environment_of(overlay, process)
        assert "/etc/campus/tls" in {it["mountPath"] for it in container["volumeMounts"]}, name_of(process)
        # The API of a service serves while the broker is away; the gateway's own readiness knows that.
        is_api = container["args"][0] == "api" and service_of(process) != "api-gateway"
        for probe, path in (
            ("startupProbe", "/health/liveness"),
            ("livenessProbe", "/health/liveness"),
            ("readinessProbe", "/health/serving" if is_api else "/health/readiness"),
        ):
            requested = container[probe]["httpGet"]
            assert (requested["path"], ports[requested["port"]]) == (path, int(given.get("METRICS_PORT", 8080)))
            assert requested["scheme"] == "HTTPS"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_process_has_the_time_to_drain(overlay) -> None:
    for process in processes(overlay):
        pod = pod_of(process)["spec"]
        (container,) = pod["containers"]
        waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        drains = float(environment_of(overlay, process).get("SHUTDOWN_DRAIN_SECONDS", 0))
        # Five more to close connections to databases and broker.
        assert waits + drains + DRAIN_SECONDS + 5 <= pod["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_kind_of_process_has_spread_replicas_and_a_disruption_budget(overlay) -> None:
    kinds = {(service, kind) for service in SETTINGS for kind in ("api", "worker")} - {("api-gateway", "worker")}
    found = {(service_of(it), pod_of(it)["spec"]["containers"][0]["args"][0]) for it in processes(overlay)}
    assert found == kinds
    budgets = [it["spec"]["selector"]["matchLabels"] for it in of_kind(overlay, "PodDisruptionBudget")]
    for process in processes(overlay):
        assert process["spec"]["selector"]["matchLabels"] == pod_of(process)["metadata"]["labels"]
        assert process["spec"]["selector"]["matchLabels"] in budgets
        pod = pod_of(process)["spec"]
        zones = pod["topologySpreadConstraints"]
        nodes = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        # One constraint: a node without the label of one is ignored by all.
        assert [it["topologyKey"] for it in zones] == ["topology.kubernetes.io/zone"]
        assert [it["podAffinityTerm"]["topologyKey"] for it in nodes] == ["kubernetes.io/hostname"]
        assert process["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
        assert "replicas" not in process["spec"], "the autoscaler's number would be undone by each rollout"
    scaled = {it["spec"]["scaleTargetRef"]["name"] for it in of_kind(overlay, "HorizontalPodAutoscaler")}
    # Elsewhere KEDA scales them, or nothing on one node.
    workers = {f"{service}-worker" for service in SETTINGS if service != "api-gateway"}
    assert scaled == {f"{service}-api" for service in SETTINGS} | {"console"} | (
        workers if overlay in ("managed", "small") else set()
    )


def test_the_small_overlay_requests_at_most_five_cores_and_ten_gibibytes() -> None:
    sums = requests_of(manifests("small"))
    assert sums["cpu"] <= 5
    assert sums["memory"] <= 10 * 2**30


def test_the_table_of_cost_has_the_sums_of_the_requests() -> None:
    table = (ROOT / "docs/capacity.md").read_text()
    for overlay in ("single-node", "small", "production"):
        sums = requests_of(manifests(overlay))
        assert f"| `{overlay}` | {sums['cpu']:.1f} | {sums['memory'] / 2**30:.1f} GiB |" in table


def test_workers_scale_with_their_own_queues() -> None:
    queues = declared_topology(RetryLadder()).bindings
    scaled = {}
    for it in of_kind("production", "ScaledObject"):
        assert it["spec"]["minReplicaCount"] >= 2
        scaled[it["spec"]["scaleTargetRef"]["name"]] = {
            trigger["metadata"]["queueName"] for trigger in it["spec"]["triggers"] if trigger["type"] == "rabbitmq"
        }
        assert [trigger["metricType"] for trigger in it["spec"]["triggers"] if trigger["type"] == "cpu"] == [
            "AverageValue"
        ], "lengths alone are too late (docs/capacity.md, the busiest hour)"
    assert scaled == {
        f"{service}-worker": {queue for queue in queues if queue.startswith(f"{service}.")}
        for service in SETTINGS
        if service != "api-gateway"
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_images_are_pinned(overlay) -> None:
    for container in containers_of(manifests(overlay)):
        name, _, version = container["image"].rpartition("@" if "@" in container["image"] else ":")
        assert name
        assert version != "latest"
        assert not container["image"].startswith("campus-"), "the overlay names no registry for it"
    for it in of_kind(overlay, "Cluster", "RabbitmqCluster"):
        assert re.search(r":\d+\.\d+", it["spec"].get("imageName") or it["spec"]["image"])


def test_the_documents_name_the_operator_that_knows_the_failover_quorum() -> None:
    [major, minor] = re.search(r"CloudNativePG (\d+)\.(\d+) or newer", (FOLDER / "README.md").read_text()).groups()
    assert (int(major), int(minor)) >= (1, 28)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_failover_promotes_only_a_standby_with_every_acknowledged_commit(overlay) -> None:
    databases = {name_of(it): it["spec"] for it in of_kind(overlay, "Cluster")}
    for spec in databases.values():
        synchronous = spec["postgresql"].get("synchronous")
        if spec["instances"] == 1:
            # Nothing can be promoted, and a commit would wait for ever.
            assert synchronous is None
            continue
        assert spec["instances"] == 3
        assert synchronous == {"method": "any", "number": 1, "dataDurability": "required", "failoverQuorum": True}
    assert {it["spec"]["cluster"]["name"] for it in of_kind(overlay, "ScheduledBackup")} == databases.keys()


def test_production_has_standbys() -> None:
    assert {it["spec"]["instances"] for it in of_kind("production", "Cluster")} == {3}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_alert_of_the_cluster_has_a_runbook_of_its_name(overlay) -> None:
    (own,) = [it for it in of_kind(overlay, "PrometheusRule") if name_of(it) == "secrets-age"]
    rules = [rule for group in own["spec"]["groups"] for rule in group["rules"]]
    assert rules
    for rule in rules:
        path = f"deploy/k8s/runbooks/{rule['alert']}.md"
        assert rule["annotations"]["runbook"] == path
        assert (ROOT / path).read_text().startswith(f"# {rule['alert']}\n")
    assert {path.stem for path in (FOLDER / "runbooks").iterdir()} == {rule["alert"] for rule in rules}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_process_has_the_labels_of_the_rules(overlay) -> None:
    found = set()
    for monitor in of_kind(overlay, "ServiceMonitor", "PodMonitor"):
        endpoints = monitor["spec"].get("endpoints") or monitor["spec"]["podMetricsEndpoints"]
        if name_of(monitor) in ("databases", "poolers"):
            continue
        if name_of(monitor) == "broker":
            assert {it["relabelings"][0]["replacement"] for it in endpoints} == {"broker", "broker-queues"}
            continue
        (endpoint,) = endpoints
        assert endpoint["path"] == "/metrics"
        assert {it["targetLabel"] for it in endpoint["relabelings"]} == {"job", "service", "process"}
        for process in processes(overlay):
            (container,) = pod_of(process)["spec"]["containers"]
            if is_selected(monitor["spec"]["selector"], pod_of(process)["metadata"]["labels"]):
                assert endpoint["port"] in {it["name"] for it in container["ports"]}
                assert name_of(process) not in found, "read twice"
                found.add(name_of(process))
    assert found == {name_of(it) for it in processes(overlay)}


def is_selected(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    refused = [
        labels.get(it["key"]) in it["values"]
        for it in selector.get("matchExpressions", [])
        if it["operator"] == "NotIn"
    ]
    return selector["matchLabels"].items() <= labels.items() and not any(refused)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_cluster_has_the_rules_that_promtool_tests(overlay) -> None:
    groups = {name_of(it): it["spec"]["groups"] for it in of_kind(overlay, "PrometheusRule")}
    for path in RULES.glob("*.yml"):
        assert groups[path.stem] == yaml.load(path.read_text(), yaml.CSafeLoader)["groups"]
    assert groups.keys() == {path.stem for path in RULES.glob("*.yml")} | {"secrets-age"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_cluster_has_every_dashboard(overlay) -> None:
    (dashboards,) = [it for it in of_kind(overlay, "ConfigMap") if name_of(it) == "grafana-dashboards"]
    folder = ROOT / "deploy/observability/grafana/dashboards"
    assert dashboards["data"] == {path.name: path.read_text() for path in folder.glob("*.json")}
    assert dashboards["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_alerts_reach_on_call_with_the_delays_of_alertmanager() -> None:
    (config,) = of_kind("production", "AlertmanagerConfig")
    ours = yaml.load((ROOT / "deploy/observability/alertmanager/alertmanager.yml").read_text(), yaml.CSafeLoader)
    routes = {it["receiver"]: it for it in config["spec"]["route"]["routes"]}
    for route in ours["route"]["routes"]:
        routed = routes[route["receiver"]]
        assert routed.get("repeatInterval") == route.get("repeat_interval")
        assert routed["matchers"] == [
            {"name": "severity", "value": route["receiver"].upper()},
        ]
    assert len(config["spec"]["inhibitRules"]) == len(ours["inhibit_rules"])
    for receiver in config["spec"]["receivers"]:
        (pager,) = receiver["pagerdutyConfigs"]
        assert pager["routingKey"] == {"name": "providers-keys", "key": "ON_CALL_KEY"}
    assert not of_kind("staging", "AlertmanagerConfig"), "staging calls nobody"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_operator_warns_about_our_resources(overlay) -> None:
    """Deprecated by CloudNativePG, or without a meaning for KEDA while a worker is always there."""
    for it in of_kind(overlay, "Cluster", "Pooler"):
        assert not it["spec"].keys() & {"backup", "monitoring", "nodeMaintenanceWindow"}, name_of(it)
    for it in of_kind(overlay, "ScheduledBackup"):
        assert it["spec"]["method"] == "plugin"
    stores = {name_of(it) for it in of_kind(overlay, "ObjectStore")}
    for it in of_kind(overlay, "Cluster"):
        (archiver,) = [plugin for plugin in it["spec"]["plugins"] if plugin["isWALArchiver"]]
        assert archiver["parameters"]["barmanObjectName"] in stores
    for it in of_kind(overlay, "ScaledObject"):
        assert it["spec"]["minReplicaCount"] > 0
        assert not it["spec"].keys() & {"pollingInterval", "cooldownPeriod"}, name_of(it)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_pod_that_blocks_a_drain_can_be_moved(overlay) -> None:
    """A budget of the operator for the only instance of a database would never let its node go."""
    for it in of_kind(overlay, "Cluster"):
        assert it["spec"].get("enablePDB", True) == (it["spec"]["instances"] > 1), name_of(it)
    for it in of_kind(overlay, "PodDisruptionBudget"):
        assert it["spec"]["maxUnavailable"] == 1, name_of(it)


def test_the_documents_name_every_role_of_a_namespace() -> None:
    named = set(re.findall(r"campus\.example/role: ([a-z-]+)", "\n".join(texts_of_manifests())))
    given = (FOLDER / "README.md").read_text()
    assert named == set(re.findall(r"^   \| `([a-z-]+)` \|", given, re.MULTILINE))


def texts_of_manifests() -> Iterator[str]:
    for path in FOLDER.rglob("*.yaml"):
        yield path.read_text()
