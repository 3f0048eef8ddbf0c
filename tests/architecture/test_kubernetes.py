"""The manifests of deploy/k8s are valid and match the code. No test here needs a cluster."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import kubernetes_validate
import pytest
import yaml

from common.messaging.topology import declared_topology
from common.primitives.retry import RetryLadder
from common.process.server import DRAIN_SECONDS
from tests.architecture.kustomize import FOLDER, OVERLAYS, Resource, containers_of, pod_of, rendered
from tests.architecture.manifests import (
    SETTINGS,
    environment_of,
    manifests,
    name_of,
    of_kind,
    processes,
    service_of,
    workloads,
)
from tests.architecture.sources import ROOT

KUBERNETES = "1.34"
APPLIED_BY_A_READER = [FOLDER / "examples/argocd/application.yaml", FOLDER / "examples/flux/campus.yaml"]
COMPONENT = "app.kubernetes.io/component"
JOBS = {"provision", "migration", "demo-data"}


# ---- Validity -----------------------------------------------------------------------------------------------------------


def closed(schema: Any) -> Any:
    """A schema that refuses fields it does not name, as the API server does in strict mode."""
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    is_open = "additionalProperties" in schema or schema.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(schema.get("properties"), dict) and "type" in schema and not is_open:
        result["additionalProperties"] = False
    return result


@cache
def operator_schema(api_version: str, kind: str) -> jsonschema.Draft202012Validator:
    path = FOLDER / "schemas" / f"{api_version.replace('/', '_')}_{kind}.json"
    return jsonschema.Draft202012Validator(closed(json.loads(path.read_text())))


def is_of_an_operator(resource: Resource) -> bool:
    group = resource["apiVersion"].rpartition("/")[0]
    return ("." in group and not group.endswith(".k8s.io")) or group == "gateway.networking.k8s.io"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_resource_matches_its_schema(overlay) -> None:
    for resource in manifests(overlay):
        if is_of_an_operator(resource):
            faults = list(operator_schema(resource["apiVersion"], resource["kind"]).iter_errors(resource))
            assert not faults, (name_of(resource), [f"{fault.json_path}: {fault.message}" for fault in faults])
        else:
            kubernetes_validate.validate(resource, KUBERNETES, strict=True)


def test_the_check_rejects_a_misspelt_field() -> None:
    database = next(it for it in manifests("production") if it["kind"] == "Cluster")
    misspelt = {**database, "spec": {**database["spec"], "instancez": 3}}
    assert not operator_schema(database["apiVersion"], "Cluster").is_valid(misspelt)
    deployment = processes("production")[0]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**deployment, "spec": {**deployment["spec"], "replicaz": 1}}, KUBERNETES, strict=True
        )


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_resource_is_defined_once(overlay) -> None:
    names = [(it["apiVersion"], it["kind"], name_of(it)) for it in manifests(overlay)]
    assert len(names) == len(set(names))
    assert {it["metadata"].get("namespace") for it in manifests(overlay) if it["kind"] != "Namespace"} == {"campus"}


def test_every_schema_has_its_source() -> None:
    table = (FOLDER / "schemas" / "SOURCE.md").read_text()
    for path in (FOLDER / "schemas").glob("*.json"):
        assert path.name in table or f"`_{path.stem.rsplit('_', 1)[1]}`" in table or path.stem in table, path.name


def test_every_manifest_is_part_of_an_overlay() -> None:
    """A file that no kustomization names would never be applied."""
    named = set()
    for path in FOLDER.rglob("kustomization.yaml"):
        kustomization = yaml.safe_load(path.read_text())
        patches = [patch["path"] for patch in kustomization.get("patches", [])]
        generators = kustomization.get("configMapGenerator", [])
        envs = [name for it in generators for name in (*it.get("envs", []), *it.get("files", []))]
        named |= {path.parent / name for name in (*kustomization.get("resources", []), *patches, *envs)}
    written = {path for pattern in ("*.yaml", "*.env") for path in FOLDER.rglob(pattern)}
    unnamed = {path for path in written if path.name != "kustomization.yaml"} - named
    assert unnamed == {*(FOLDER / "templates").iterdir(), *APPLIED_BY_A_READER}


@pytest.mark.parametrize("path", APPLIED_BY_A_READER, ids=lambda path: path.parent.name)
def test_the_examples_of_gitops_tools_match_their_schemas(path: Path) -> None:
    for resource in yaml.safe_load_all(path.read_text()):
        schema = operator_schema(resource["apiVersion"], resource["kind"])
        faults = [f"{fault.json_path}: {fault.message}" for fault in schema.iter_errors(resource)]
        assert not faults, name_of(resource)


def test_subscribers_outside_reach_the_broker_by_tls_alone() -> None:
    resources = rendered("", FOLDER / "examples/subscribers-outside")
    added = [it for it in resources if it not in manifests("production")]
    for it in added:
        if is_of_an_operator(it):
            assert operator_schema(it["apiVersion"], it["kind"]).is_valid(it), name_of(it)
        else:
            kubernetes_validate.validate(it, KUBERNETES, strict=True)
    by_name = {(it["kind"], name_of(it)): it["spec"] for it in added if "spec" in it}
    secret = by_name["Certificate", "broker"]["secretName"]
    assert by_name["RabbitmqCluster", "broker"]["tls"]["secretName"] == secret
    service = by_name["Service", "broker-outside"]
    assert [it["port"] for it in service["ports"]] == [5671]
    (rule,) = by_name["NetworkPolicy", "subscribers-outside"]["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 5671}]
    assert [it["ipBlock"]["cidr"] for it in rule["from"]] == service["loadBalancerSourceRanges"]
    [address] = [it["data"]["EVENTS_ADDRESS"] for it in added if "EVENTS_ADDRESS" in it.get("data", {})]
    assert urlsplit(address)[:2] == ("amqps", f"{by_name['Certificate', 'broker']['dnsNames'][0]}:5671")


def test_argo_cd_applies_the_steps_of_the_roll_out_in_their_order() -> None:
    waves: dict[str, set[str]] = {}
    for it in rendered("", FOLDER / "examples/argocd"):
        component = it["metadata"].get("labels", {}).get(COMPONENT, "")
        annotations = it["metadata"].get("annotations", {})
        waves.setdefault(component, set()).add(annotations.get("argocd.argoproj.io/sync-wave", "0"))
        replaced = annotations.get("argocd.argoproj.io/sync-options") == "Force=true,Replace=true"
        assert replaced == (it["kind"] == "Job"), name_of(it)
    assert waves == {
        "": {"0"},
        "broker-account": {"1"},
        "migration": {"2"},
        **{key: {"3"} for key in ("api", "worker", "web", "key-rotation", "audit")},
        "autoscaling": {"4"},
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_flux_gets_every_resource_in_the_folder_of_its_step(overlay, tmp_path: Path) -> None:
    whole = yaml.safe_dump_all(manifests(overlay))
    subprocess.run([str(FOLDER / "steps"), str(tmp_path)], input=whole, text=True, check=True)
    steps = {
        "1-servers": {""},
        "2-accounts": {"broker-account", "provision"},
        "3-migrations": {"migration"},
        "4-processes": {"api", "worker", "web", "key-rotation", "audit", "demo-data"},
        "5-autoscaling": {"autoscaling"},
    }
    written = {}
    for step, components in steps.items():
        path = tmp_path / step / "manifests.yaml"
        written[step] = list(yaml.safe_load_all(path.read_text())) if path.exists() else []
        others = {"sandbox"} if step == "1-servers" else set()
        found = {it["metadata"].get("labels", {}).get(COMPONENT, "") for it in written[step]}
        assert found <= components | others
    assert sum(map(len, written.values())) == len(manifests(overlay))
    paths = re.findall(r"path: \./(\S+?)[,\n]", (FOLDER / "examples/flux/campus.yaml").read_text())
    assert paths == list(steps)


def test_manifests_from_templates_are_up_to_date() -> None:
    subprocess.run([sys.executable, str(FOLDER / "render.py"), "--check"], check=True)


# ---- How processes run --------------------------------------------------------------------------------------------------


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
        assert kinds <= ({"persistentVolumeClaim"} if name_of(workload) == "sandbox" else {"configMap"})
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
        for probe, path in (
            ("startupProbe", "/health/liveness"),
            ("livenessProbe", "/health/liveness"),
            ("readinessProbe", "/health/readiness"),
        ):
            requested = container[probe]["httpGet"]
            assert (requested["path"], ports[requested["port"]]) == (path, int(given.get("METRICS_PORT", 8080)))


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
        workers if overlay == "managed" else set()
    )


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
        ], "lengths alone are too late: the busiest hour of lab.capacity shows it"
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


def test_commits_are_replicated_synchronously() -> None:
    for it in of_kind("production", "Cluster"):
        assert it["spec"]["instances"] == 3
        assert it["spec"]["postgresql"]["synchronous"] == {"method": "any", "number": 1, "dataDurability": "required"}
    backed_up = {it["spec"]["cluster"]["name"] for it in of_kind("production", "ScheduledBackup")}
    assert backed_up == {name_of(it) for it in of_kind("production", "Cluster")}


# ---- Monitoring ---------------------------------------------------------------------------------------------------------

RULES = ROOT / "deploy/observability/prometheus/rules"


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
        assert groups[path.stem] == yaml.safe_load(path.read_text())["groups"]
    assert groups.keys() == {path.stem for path in RULES.glob("*.yml")} | {"secrets-age"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_cluster_has_every_dashboard(overlay) -> None:
    (dashboards,) = [it for it in of_kind(overlay, "ConfigMap") if name_of(it) == "grafana-dashboards"]
    folder = ROOT / "deploy/observability/grafana/dashboards"
    assert dashboards["data"] == {path.name: path.read_text() for path in folder.glob("*.json")}
    assert dashboards["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_alerts_reach_on_call_with_the_delays_of_alertmanager() -> None:
    (config,) = of_kind("production", "AlertmanagerConfig")
    ours = yaml.safe_load((ROOT / "deploy/observability/alertmanager/alertmanager.yml").read_text())
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


# ---- Rolling out --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_labels_of_the_roll_out_separate_its_steps(overlay) -> None:
    """`roll-out` holds processes back until the migrations are through, by the label `app.kubernetes.io/component`."""
    script = (FOLDER / "roll-out").read_text()
    (held_back,) = re.findall(r"notin \(([^)]*)\)", script)
    assert set(held_back.split(", ")) == {
        "api",
        "worker",
        "web",
        "key-rotation",
        "audit",
        "broker-account",
        "autoscaling",
        *JOBS,
    }
    for it in workloads(overlay):
        if service_of(it) in SETTINGS:
            component = it["metadata"]["labels"][COMPONENT]
            assert component in held_back.split(", ")
            assert (component in JOBS) == (it["kind"] == "Job")
    waiting = {"NetworkPolicy", "ServiceAccount", "ExternalSecret", "Cluster", "Pooler", "ConfigMap"}
    for it in of_kind(overlay, *waiting):
        assert "app.kubernetes.io/component" not in it["metadata"].get("labels", {}), name_of(it)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_resources_are_applied_after_their_requirements(overlay) -> None:
    """The topology operator refuses an account without its labelled Secret, KEDA a scaler without its Deployment."""
    script = (FOLDER / "roll-out").read_text()
    steps = (
        "externalsecrets.external-secrets.io",
        "=broker-account",
        "run_jobs provision",
        "run_jobs migration",
        " in (api, worker",
        "rollout status",
        "run_jobs demo-data",
    )
    places = [script.index(step, script.index("notin (")) for step in steps]
    assert places == sorted(places)
    assert script.index('apply -k "$overlay"\n') > places[-1], "scalers come with the whole, last"
    secrets = {name_of(it): it["spec"]["target"].get("template", {}) for it in of_kind(overlay, "ExternalSecret")}
    for it in of_kind(overlay, "User"):
        template = secrets[it["spec"]["importCredentialsSecret"]["name"]]
        assert template["metadata"]["labels"] == {"rabbitmq.com/topology-operator": "true"}, name_of(it)
    users = {name_of(it) for it in of_kind(overlay, "User")}
    for it in of_kind(overlay, "User", "Permission", "TopicPermission", "Vhost"):
        assert it["metadata"]["labels"][COMPONENT] == "broker-account", name_of(it)
        if it["kind"] != "Vhost":
            assert it["spec"].get("userReference", it["metadata"])["name"] in users
    deployed = of_kind(overlay, "Deployment")
    requests = {name_of(it): pod_of(it)["spec"]["containers"][0]["resources"].get("requests", {}) for it in deployed}
    for it in of_kind(overlay, "ScaledObject", "HorizontalPodAutoscaler"):
        assert "cpu" in requests[it["spec"]["scaleTargetRef"]["name"]], "its use could not be told"
        if it["kind"] == "ScaledObject":
            assert it["metadata"]["labels"][COMPONENT] == "autoscaling", name_of(it)


@pytest.mark.parametrize(("stopped", "status"), [("", 0), ("orders-api payouts-worker ", 1)])
def test_a_roll_out_does_not_pass_over_stopped_processes(tmp_path: Path, stopped: str, status: int) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\ncase "$*" in *replicas==0*) printf %s "{stopped}" ;; esac\n')
    kubectl.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    ran = subprocess.run(
        [FOLDER / "roll-out", "production"], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == status, ran.stderr
    assert ("kubectl scale -n campus deployments orders-api payouts-worker --replicas=2" in ran.stderr) == bool(stopped)


def test_a_second_roll_out_changes_nothing() -> None:
    """Server-side apply: kubectl's own merge rewrites lists with defaults, and a budget's selector, each time."""
    script = (FOLDER / "roll-out").read_text()
    (command,) = re.findall(r"kubectl apply .*", script)
    assert {"--server-side", "--force-conflicts", "--validate=strict"} <= set(command.split())


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
