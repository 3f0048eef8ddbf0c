"""The manifests of deploy/k8s are valid to the last field and say what the code says. Nothing here needs a cluster."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from pydantic_core import PydanticUndefined

import api_gateway.settings
import identity.settings
import notifications.settings
import orders.settings
import payments.settings
import payouts.settings
from campus_tools.provision import SUBSCRIBER_RIGHTS
from campus_tools.services import SERVICES, service_named
from common.process import DRAIN_SECONDS, declared_topology
from common.retry import RetryLadder
from common.settings import ServiceSettings
from common.topology import dead_letter_queue_of, delay_queue_of
from tests.architecture.kustomize import FOLDER, OVERLAYS, Resource, containers_of, pod_of, rendered
from tests.architecture.sources import ROOT

KUBERNETES = "1.34"
SETTINGS: dict[str, type[ServiceSettings]] = {
    "api-gateway": api_gateway.settings.Settings,
    "identity": identity.settings.Settings,
    "orders": orders.settings.Settings,
    "payments": payments.settings.Settings,
    "payouts": payouts.settings.Settings,
    "notifications": notifications.settings.Settings,
}
CADENCE_DAYS = {
    "gateway-secret-key": 90,
    "service-role-key": 180,
    "jwt-signing-keys": 365,
    "database-connection-string": 180,
    "ai-provider-key": 90,
    "dns-automation-token": 365,
}
"""The specification, authentication and authorization, rule 9."""


@cache
def manifests(overlay: str) -> list[Resource]:
    return rendered(overlay)


def of_kind(overlay: str, *kinds: str) -> list[Resource]:
    return [resource for resource in manifests(overlay) if resource["kind"] in kinds]


def workloads(overlay: str) -> list[Resource]:
    return of_kind(overlay, "Deployment", "Job", "CronJob")


def name_of(resource: Resource) -> str:
    return resource["metadata"]["name"]


def service_of(workload: Resource) -> str:
    return workload["metadata"]["labels"]["app.kubernetes.io/name"]


def processes(overlay: str) -> list[Resource]:
    """The Deployments of our own services."""
    return [it for it in of_kind(overlay, "Deployment") if service_of(it) in SETTINGS]


def texts_within(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for entry in value.values():
            yield from texts_within(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from texts_within(entry)
    elif isinstance(value, str):
        yield value


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
def test_every_resource_is_valid_to_the_last_field(overlay):
    for resource in manifests(overlay):
        if is_of_an_operator(resource):
            faults = list(operator_schema(resource["apiVersion"], resource["kind"]).iter_errors(resource))
            assert not faults, (name_of(resource), [f"{fault.json_path}: {fault.message}" for fault in faults])
        else:
            kubernetes_validate.validate(resource, KUBERNETES, strict=True)


def test_the_check_refuses_what_is_misspelt():
    database = next(it for it in manifests("production") if it["kind"] == "Cluster")
    misspelt = {**database, "spec": {**database["spec"], "instancez": 3}}
    assert not operator_schema(database["apiVersion"], "Cluster").is_valid(misspelt)
    deployment = processes("production")[0]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**deployment, "spec": {**deployment["spec"], "replicaz": 1}}, KUBERNETES, strict=True
        )


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_resource_stands_once_in_the_one_namespace(overlay):
    names = [(it["apiVersion"], it["kind"], name_of(it)) for it in manifests(overlay)]
    assert len(names) == len(set(names))
    assert {it["metadata"].get("namespace") for it in manifests(overlay) if it["kind"] != "Namespace"} == {"campus"}


def test_every_schema_has_its_source():
    table = (FOLDER / "schemas" / "SOURCE.md").read_text()
    for path in (FOLDER / "schemas").glob("*.json"):
        assert path.name in table or f"`_{path.stem.rsplit('_', 1)[1]}`" in table or path.stem in table, path.name


def test_every_manifest_is_part_of_an_overlay():
    """A file that no kustomization names would be believed and never applied."""
    named = set()
    for path in FOLDER.rglob("kustomization.yaml"):
        kustomization = yaml.safe_load(path.read_text())
        patches = [patch["path"] for patch in kustomization.get("patches", [])]
        envs = [name for it in kustomization.get("configMapGenerator", []) for name in it.get("envs", [])]
        named |= {path.parent / name for name in (*kustomization.get("resources", []), *patches, *envs)}
    written = {path for pattern in ("*.yaml", "*.env") for path in FOLDER.rglob(pattern)}
    assert {path for path in written if path.name != "kustomization.yaml"} <= named


# ---- Settings -----------------------------------------------------------------------------------------------------------


def keys_of_secrets(overlay: str) -> dict[str, dict[str, str]]:
    """What the ExternalSecrets make: the variables of each, with the templates of their values."""
    secrets = {}
    for it in of_kind(overlay, "ExternalSecret"):
        template = it["spec"]["target"].get("template", {}).get("data")
        secrets[name_of(it)] = template or {entry["secretKey"]: "" for entry in it["spec"]["data"]}
    return secrets


def environment_of(overlay: str, workload: Resource) -> dict[str, str]:
    """The variables of a workload's container; a secret's value is one that could be."""
    maps = {name_of(it): it["data"] for it in of_kind(overlay, "ConfigMap")}
    secrets = keys_of_secrets(overlay)
    (container,) = pod_of(workload)["spec"]["containers"]
    environment: dict[str, str] = {}
    for source in container.get("envFrom", []):
        if "configMapRef" in source:
            more = maps[source["configMapRef"]["name"]]
        else:
            more = {key: possible(key, text) for key, text in secrets[source["secretRef"]["name"]].items()}
        assert not environment.keys() & more.keys(), (name_of(workload), environment.keys() & more.keys())
        environment |= more
    for variable in container.get("env", []):
        reference = variable["valueFrom"]["secretKeyRef"]
        environment[variable["name"]] = possible(variable["name"], secrets[reference["name"]][reference["key"]])
    return environment


def possible(name: str, template: str) -> str:
    if name == "SMTP_URL":
        return "smtps://campus:secret@mail.example:465"
    return re.sub(r"{{.*?}}", "secret", template) or "0123456789abcdef0123456789abcdef"


def variables_of_the_image() -> set[str]:
    line = next(it for it in (ROOT / "deploy/Dockerfile").read_text().splitlines() if it.startswith("ENV PATH="))
    return {word.partition("=")[0] for word in line.split()[1:]}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_processes_are_told_what_their_settings_ask_for_and_nothing_else(overlay):
    for process in processes(overlay):
        fields = SETTINGS[service_of(process)].model_fields
        told = set(environment_of(overlay, process))
        needed = {name.upper() for name, field in fields.items() if field.default is PydanticUndefined}
        assert told <= {name.upper() for name in fields}, name_of(process)
        assert needed <= told | variables_of_the_image(), name_of(process)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_settings_take_what_the_processes_are_told(overlay):
    for process in processes(overlay):
        given = {name.lower(): text for name, text in environment_of(overlay, process).items()}
        settings = SETTINGS[service_of(process)](**{"port": 8080, **given})
        assert settings.base_url.startswith("https://")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_all_kinds_of_a_service_are_told_the_same(overlay):
    for service in SETTINGS:
        told = [
            environment_of(overlay, it)
            for it in (*processes(overlay), *of_kind(overlay, "CronJob"))
            if service_of(it) == service
        ]
        assert all(it == told[0] for it in told), service


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_migration_is_told_its_owner_s_address_and_nobody_else_is(overlay):
    for job in of_kind(overlay, "Job"):
        service = service_named(service_of(job))
        assert set(environment_of(overlay, job)) == {"OWNER_DATABASE_URL"}
        address = environment_of(overlay, job)["OWNER_DATABASE_URL"]
        assert address == f"postgresql://{service.owner_role}:secret@{service.name}-db-rw:5432/{service.database}"
    assert {service_of(job) for job in of_kind(overlay, "Job")} == set(SETTINGS)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_databases_and_roles_are_those_of_the_code(overlay):
    clusters = {name_of(it): it["spec"] for it in of_kind(overlay, "Cluster")}
    assert set(clusters) == {f"{service.name}-db" for service in SERVICES}
    for service in SERVICES:
        spec = clusters[f"{service.name}-db"]
        created = spec["bootstrap"]["initdb"]
        assert (created["database"], created["owner"]) == (service.database, service.owner_role)
        roles = {role["name"]: role.get("bypassrls", False) for role in spec["managed"]["roles"]}
        assert roles == {service.owner_role: False, service.api_role: False, service.service_role: True}
        told = environment_of(overlay, next(it for it in processes(overlay) if service_of(it) == service.name))
        for name, role in (("API_DATABASE_URL", service.api_role), ("SERVICE_DATABASE_URL", service.service_role)):
            assert told[name] == f"postgresql://{role}:secret@{service.name}-pooler:5432/{service.database}"


# ---- Secrets ------------------------------------------------------------------------------------------------------------

SECRET_WORDS = re.compile(r"(KEY|SECRET|TOKEN|PASSWORD|ACCOUNT|DATABASE_URL|BROKER_URL|SMTP_URL)(_PREVIOUS)?$")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_secret_stands_in_a_manifest(overlay):
    assert not of_kind(overlay, "Secret")
    for it in of_kind(overlay, "ConfigMap"):
        assert not [name for name in it["data"] if SECRET_WORDS.search(name)], name_of(it)
    for container in containers_of(manifests(overlay)):
        assert not [it for it in container.get("env", []) if "value" in it]
    for text in texts_within(manifests(overlay)):
        for password in re.findall(r"[a-z]+://[^/\s:@]+:([^@\s]+)@", text):
            assert "{{" in password, text


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_secret_that_is_used_is_fetched_and_every_fetched_one_is_used(overlay):
    def used(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for key, entry in value.items():
                if key in REFERENCES and isinstance(entry, dict):
                    yield entry["name"]
                elif key == "secretTargetRef":
                    yield from (it["name"] for it in entry)
                elif key == "initdb":
                    yield entry["secret"]["name"]
                else:
                    yield from used(entry)
        elif isinstance(value, list):
            for entry in value:
                yield from used(entry)

    asked = set(used(manifests(overlay))) - MADE_BY_CERT_MANAGER
    # Only KEDA reads the lengths of queues by itself.
    assert asked | {"broker-scaling"} == set(keys_of_secrets(overlay)) | {"broker-scaling"}


REFERENCES = {
    "secretRef",
    "secretKeyRef",
    "passwordSecret",
    "importCredentialsSecret",
    "accessKeyId",
    "secretAccessKey",
    "apiTokenSecretRef",
    "privateKeySecretRef",
}
MADE_BY_CERT_MANAGER = {"acme-account"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_secrets_are_rotated_as_often_as_the_specification_says(overlay):
    days: dict[str, set[int]] = {}
    for it in of_kind(overlay, "ExternalSecret", "CronJob"):
        notes = it["metadata"].get("annotations", {})
        kind = notes.get("campus.example/secret") or notes.get("campus.example/rotates")
        if "campus.example/rotation-days" in notes:
            days.setdefault(kind, set()).add(int(notes["campus.example/rotation-days"]))
        elif it["kind"] == "ExternalSecret":
            assert notes["campus.example/rotation"] == "on-compromise", name_of(it)
    ours = {"broker-account"}
    assert {kind: days[kind] for kind in days.keys() - ours} == {
        kind: {number} for kind, number in CADENCE_DAYS.items()
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_keys_with_a_cadence_are_known_as_such(overlay):
    cadence = {
        "GATEWAY_SECRET_KEY": "gateway-secret-key",
        "GATEWAY_SECRET_KEY_PREVIOUS": "gateway-secret-key",
        "SERVICE_ROLE_KEY": "service-role-key",
        "SERVICE_ROLE_KEY_PREVIOUS": "service-role-key",
        "AI_API_KEY": "ai-provider-key",
        "API_DATABASE_URL": "database-connection-string",
        "SERVICE_DATABASE_URL": "database-connection-string",
        "OWNER_DATABASE_URL": "database-connection-string",
        "token": "dns-automation-token",
    }
    kinds = {
        name_of(it): it["metadata"]["annotations"]["campus.example/secret"] for it in of_kind(overlay, "ExternalSecret")
    }
    for secret, keys in keys_of_secrets(overlay).items():
        for key in keys.keys() & cadence.keys():
            assert kinds[secret] == cadence[key], (secret, key)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_alert_reads_the_annotations_that_the_secrets_carry(overlay):
    (config,) = [it for it in of_kind(overlay, "ConfigMap") if name_of(it) == "kube-state-metrics-secrets"]
    (told,) = yaml.safe_load(config["data"]["secrets.yaml"])["spec"]["resources"]
    measured = {f"{told['metricNamePrefix']}_{it['name']}": it["each"]["gauge"]["path"] for it in told["metrics"]}
    assert measured["campus_secret_rotation_days"] == ["metadata", "annotations", "campus.example/rotation-days"]
    expressions = [
        rule["expr"]
        for it in of_kind(overlay, "PrometheusRule")
        for group in it["spec"]["groups"]
        for rule in group["rules"]
    ]
    read = {name for text in expressions for name in re.findall(r"campus_secret_\w+", text)}
    assert read == set(measured)


# ---- How processes run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_pod_of_ours_is_confined(overlay):
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
        assert {key for volume in pod["volumes"] for key in volume} <= {"name", "emptyDir"}
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
def test_accounts_are_those_of_the_image(overlay):
    users = re.findall(r"--uid (\d+) .* (campus\S*)", (ROOT / "deploy/Dockerfile").read_text())
    names = {int(number): name for number, name in users}
    for workload in workloads(overlay):
        if service_of(workload) in SETTINGS:
            user = pod_of(workload)["spec"]["securityContext"]["runAsUser"]
            assert names[user] == ("campus-migration" if workload["kind"] == "Job" else "campus")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_process_is_asked_for_its_health_on_its_inner_port(overlay):
    for process in processes(overlay):
        (container,) = pod_of(process)["spec"]["containers"]
        ports = {it["name"]: it["containerPort"] for it in container["ports"]}
        told = environment_of(overlay, process)
        for probe, path in (
            ("startupProbe", "/health/liveness"),
            ("livenessProbe", "/health/liveness"),
            ("readinessProbe", "/health/readiness"),
        ):
            asked = container[probe]["httpGet"]
            assert (asked["path"], ports[asked["port"]]) == (path, int(told.get("METRICS_PORT", 8080)))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_process_has_the_time_to_drain(overlay):
    for process in processes(overlay):
        pod = pod_of(process)["spec"]
        (container,) = pod["containers"]
        waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        leaves = float(environment_of(overlay, process).get("LEAVE_SECONDS", 0))
        # Five more to close connections to databases and broker.
        assert waits + leaves + DRAIN_SECONDS + 5 <= pod["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_kind_of_process_is_there_spread_and_kept_up(overlay):
    kinds = {(service, kind) for service in SETTINGS for kind in ("api", "worker")} - {("api-gateway", "worker")}
    found = {(service_of(it), pod_of(it)["spec"]["containers"][0]["args"][0]) for it in processes(overlay)}
    assert found == kinds
    budgets = [it["spec"]["selector"]["matchLabels"] for it in of_kind(overlay, "PodDisruptionBudget")]
    for process in processes(overlay):
        assert process["spec"]["selector"]["matchLabels"] == pod_of(process)["metadata"]["labels"]
        assert process["spec"]["selector"]["matchLabels"] in budgets
        keys = {it["topologyKey"] for it in pod_of(process)["spec"]["topologySpreadConstraints"]}
        assert keys == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
        assert process["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
        assert "replicas" not in process["spec"], "the autoscaler's number would be undone by each rollout"
    scaled = {it["spec"]["scaleTargetRef"]["name"] for it in of_kind(overlay, "HorizontalPodAutoscaler")}
    assert scaled == {f"{service}-api" for service in SETTINGS}


def test_workers_are_as_many_as_their_own_queues_ask_for():
    queues = declared_topology(RetryLadder()).bindings
    scaled = {}
    for it in of_kind("production", "ScaledObject"):
        assert it["spec"]["minReplicaCount"] >= 2
        scaled[it["spec"]["scaleTargetRef"]["name"]] = {
            trigger["metadata"]["queueName"] for trigger in it["spec"]["triggers"]
        }
    assert scaled == {
        f"{service}-worker": {queue for queue in queues if queue.startswith(f"{service}.")}
        for service in SETTINGS
        if service != "api-gateway"
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_images_are_pinned(overlay):
    for container in containers_of(manifests(overlay)):
        name, _, version = container["image"].rpartition("@" if "@" in container["image"] else ":")
        assert name
        assert version != "latest"
        assert not container["image"].startswith("campus-"), "the overlay names no registry for it"
    for it in of_kind(overlay, "Cluster", "RabbitmqCluster"):
        assert re.search(r":\d+\.\d+", it["spec"].get("imageName") or it["spec"]["image"])


def test_money_is_on_two_machines_before_it_is_answered():
    for it in of_kind("production", "Cluster"):
        assert it["spec"]["instances"] == 3
        assert it["spec"]["postgresql"]["synchronous"] == {"method": "any", "number": 1, "dataDurability": "required"}
    backed_up = {it["spec"]["cluster"]["name"] for it in of_kind("production", "ScheduledBackup")}
    assert backed_up == {name_of(it) for it in of_kind("production", "Cluster")}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_poolers_take_what_the_processes_say_at_the_start(overlay):
    """PgBouncer refuses start parameters it does not know; what it is told to pass over must hold on the server."""
    source = (ROOT / "libs/common/src/common/database.py").read_text()
    said = dict(re.findall(r'"(\w+)": "(\w+)"', re.search(r"server_settings=({.*})", source)[1]))
    statements = int(re.search(r"statement_cache_size=(\d+)", source)[1])
    for it in of_kind(overlay, "Pooler"):
        parameters = it["spec"]["pgbouncer"]["parameters"]
        assert set(parameters["ignore_startup_parameters"].split(",")) == set(said)
        assert int(parameters["max_prepared_statements"]) >= statements
        assert it["spec"]["pgbouncer"]["poolMode"] == "transaction"
    for it in of_kind(overlay, "Cluster"):
        assert said.items() <= it["spec"]["postgresql"]["parameters"].items()


# ---- The broker's rights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_services_may_declare_the_whole_map_and_touch_nothing_of_others(overlay):
    topology = declared_topology(RetryLadder())
    ours = {topology.events_exchange, topology.public_exchange, "amq.gen-x"}
    ours |= {delay_queue_of(delay) for delay in topology.ladder.delays_seconds}
    ours |= {*topology.bindings, *(dead_letter_queue_of(name) for name in topology.bindings)}
    rights = {name_of(it): it["spec"]["permissions"] for it in of_kind(overlay, "Permission")}
    for service in SETTINGS:
        allowed = rights[f"broker-{service}"]
        for kind in ("configure", "write", "read"):
            assert all(re.search(allowed[kind], name) for name in ours)
            for foreign in ("sub.demo.orders", "amq.topic", "amq.direct", "other"):
                assert not re.search(allowed[kind], foreign)
        # Work and dead letters go by the default exchange.
        assert re.search(allowed["write"], "amq.default")
    assert rights["subscriber-demo"] == SUBSCRIBER_RIGHTS
    assert set(rights) == {name_of(it) for it in of_kind(overlay, "User")}


# ---- Monitoring ---------------------------------------------------------------------------------------------------------

RULES = ROOT / "deploy/observability/prometheus/rules"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_alert_of_the_cluster_has_a_runbook_of_its_name(overlay):
    rules = [
        rule for it in of_kind(overlay, "PrometheusRule") for group in it["spec"]["groups"] for rule in group["rules"]
    ]
    assert rules
    for rule in rules:
        path = f"deploy/k8s/runbooks/{rule['alert']}.md"
        assert rule["annotations"]["runbook"] == path
        assert (ROOT / path).read_text().startswith(f"# {rule['alert']}\n")
    assert {path.stem for path in (FOLDER / "runbooks").iterdir()} == {rule["alert"] for rule in rules}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_process_is_read_under_the_labels_that_the_rules_group_by(overlay):
    found = set()
    for monitor in of_kind(overlay, "ServiceMonitor", "PodMonitor"):
        endpoints = monitor["spec"].get("endpoints") or monitor["spec"]["podMetricsEndpoints"]
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


def test_rule_files_become_resources_of_the_operator(tmp_path):
    path = tmp_path / "money.yml"
    rule = {"alert": "unexplained-kobo", "expr": "x > 0", "for": "1m", "labels": {"severity": "SEV-1"}}
    path.write_text(yaml.safe_dump({"groups": [{"name": "money", "rules": [rule]}]}))
    command = [sys.executable, str(FOLDER / "prometheus_rules.py"), str(path), *map(str, sorted(RULES.glob("*.yml")))]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    resources = list(yaml.safe_load_all(output))
    assert resources[0]["spec"]["groups"][0]["rules"] == [rule]
    for it in resources:
        assert operator_schema(it["apiVersion"], it["kind"]).is_valid(it)


# ---- Rolling out --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_roll_out_s_labels_tell_the_stages_apart(overlay):
    """`roll-out` holds processes back until the migrations are through, by the label `app.kubernetes.io/component`."""
    script = (FOLDER / "roll-out").read_text()
    (held_back,) = re.findall(r"notin \(([^)]*)\)", script)
    assert set(held_back.split(", ")) == {"api", "worker", "migration", "key-rotation"}
    for it in workloads(overlay):
        if service_of(it) in SETTINGS:
            component = it["metadata"]["labels"]["app.kubernetes.io/component"]
            assert component in held_back.split(", ")
            assert (component == "migration") == (it["kind"] == "Job")
    waiting = {"NetworkPolicy", "ServiceAccount", "ExternalSecret", "Cluster", "Pooler", "ConfigMap"}
    for it in of_kind(overlay, *waiting):
        assert "app.kubernetes.io/component" not in it["metadata"].get("labels", {}), name_of(it)


def test_the_documents_name_every_role_of_a_namespace():
    named = set(re.findall(r"campus\.example/role: ([a-z-]+)", "\n".join(texts_of_manifests())))
    told = (FOLDER / "README.md").read_text()
    assert named == set(re.findall(r"^   \| `([a-z-]+)` \|", told, re.MULTILINE))


def texts_of_manifests() -> Iterator[str]:
    for path in FOLDER.rglob("*.yaml"):
        yield path.read_text()
