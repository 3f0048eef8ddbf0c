"""Each process gets the secrets that it needs, and no other; they are rotated as the specification demands."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

import console.settings
from operations import provision
from operations.cluster_secrets import Cluster, Entries, Servers, Target, new_values, secret_of
from operations.services import SERVICES
from tests.architecture.kustomize import OVERLAYS, containers_of, pod_of
from tests.architecture.manifests import (
    SETTINGS,
    completed,
    environment_of,
    keys_of_secrets,
    manifests,
    name_of,
    of_kind,
    possible,
    service_of,
    texts_within,
    workloads,
)

CADENCE_DAYS = {
    "gateway-secret-key": 90,
    "service-role-key": 180,
    "jwt-signing-keys": 365,
    "database-connection-string": 180,
    "ai-provider-key": 90,
    "dns-automation-token": 365,
}
"""The specification, authentication and authorization, rule 9."""

KEYS_THAT_ENCRYPT = {
    "CREDENTIALS_KEY": {"identity"},
    "CODE_DELIVERY_KEY": {"identity", "notifications"},
    "PIN_DELIVERY_KEY": {"orders", "notifications"},
    "PIN_KEY": {"orders"},
    "ACCOUNT_NUMBER_KEY": {"payouts"},
    "MESSAGE_KEY": {"notifications"},
}
"""Who may hold which: a service decrypts nothing that is not its purpose (decision 36)."""
SECRET_WORDS = re.compile(r"(KEY|SECRET|TOKEN|PASSWORD|ACCOUNT|DATABASE_URL|BROKER_URL|SMTP_URL)(_PREVIOUS)?$")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_password_of_an_address_comes_from_the_store(overlay) -> None:
    """So that one change in the store moves the processes over, and no moment has one half of it."""
    templates = keys_of_secrets(overlay)
    entries = {name_of(it): it["spec"]["data"] for it in of_kind(overlay, "ExternalSecret")}
    for service in SERVICES:
        name = f"{service.name}-database"
        for kind, role in (("api", service.api_role), ("service", service.service_role)):
            account = templates[name][f"{kind.upper()}_DATABASE_URL"].partition("@")[0].removeprefix("postgresql://")
            assert account == f'{role}_{{{{ .login }}}}:{{{{ index . (printf "{kind}_%s" .login) | urlquery }}}}'
        fetched = {it["secretKey"]: it["remoteRef"] for it in entries[name]}
        expected = ("login", "api_a", "api_b", "service_a", "service_b")
        fetched.pop("postgres", None)
        assert fetched == {key: {"key": f"campus/{name}", "property": key} for key in expected}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_manifest_contains_a_secret(overlay) -> None:
    assert not of_kind(overlay, "Secret")
    for it in of_kind(overlay, "ConfigMap"):
        assert not [name for name in it["data"] if SECRET_WORDS.search(name)], name_of(it)
    for container in containers_of(manifests(overlay)):
        assert not [it for it in container.get("env", []) if "value" in it]
    for text in texts_within(manifests(overlay)):
        for password in re.findall(r"[a-z]+://[^/\s:@]+:([^@\s]+)@", text):
            assert "{{" in password, text


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_fetched_and_used_secrets_are_the_same(overlay) -> None:
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

    certificates = {it["spec"]["secretName"] for it in of_kind(overlay, "Certificate")}
    requested = set(used(manifests(overlay))) - MADE_BY_CERT_MANAGER - certificates - MADE_BY_THE_CLUSTER_OPERATOR
    assert requested == set(keys_of_secrets(overlay))


CLUSTERS = {
    "single-node": Cluster(Target.production),
    "small": Cluster(Target.production),
    "production": Cluster(Target.production),
    "staging": Cluster(Target.staging),
    "managed": Cluster(Target.production, Servers.managed),
}


def new_entries(cluster: Cluster) -> Entries:
    """Return the store of a new cluster; `possible` values in place of those that a person supplies."""
    issued = {row.name: possible(row.name, "") for row in cluster.rows() if cluster.is_supplied(row)}
    return new_values(cluster, issued)[0]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_command_makes_every_secret_that_a_manifest_fetches(overlay) -> None:
    fetched = {
        (it["remoteRef"]["key"], it["remoteRef"]["property"])
        for resource in of_kind(overlay, "ExternalSecret")
        for it in resource["spec"]["data"]
    }
    made = {(entry, name) for entry, values in new_entries(CLUSTERS[overlay]).items() for name in values}
    # Without KEDA; and the one cluster of `small` has one password of the audit.
    unread = {("campus/broker", "scaling")}
    if overlay == "small":
        unread |= {("campus/payments-database", "audit"), ("campus/payouts-database", "audit")}
    assert made - fetched <= unread
    assert fetched <= made


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_readers_of_the_table_are_the_processes_that_get_the_secret(overlay) -> None:
    processes = [it for it in workloads(overlay) if it["kind"] in ("Deployment", "CronJob")]
    # Its secret is made by the operator of the broker.
    running = [it for it in processes if service_of(it) != "subscriber-supervisor"]
    given = [(service_of(it), environment_of(overlay, it).keys()) for it in running]
    for row in CLUSTERS[overlay].rows():
        # Others are a part of an address.
        if row.key == row.name:
            assert {service for service, names in given if row.name in names} <= set(row.readers), row.name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_services_start_with_the_secrets_of_the_command(overlay) -> None:
    entries = new_entries(CLUSTERS[overlay])
    secrets = {name_of(it): secret_of(it, entries)["stringData"] for it in of_kind(overlay, "ExternalSecret")}
    for workload in workloads(overlay):
        (container,) = pod_of(workload)["spec"]["containers"]
        maps = {name_of(it): it["data"] for it in of_kind(overlay, "ConfigMap")}
        given = {
            name.lower(): text
            for source in container.get("envFrom", [])
            for reference in source.values()
            for name, text in (maps if "configMapRef" in source else secrets)[reference["name"]].items()
            # An empty variable is one that is not set.
            if text
        }
        if "api_database_url" in given:
            assert SETTINGS[service_of(workload)](**{"port": 8080, **completed(given)})
        elif service_of(workload) == "console":
            assert console.settings.Settings(**{"port": 8080, "metrics_port": 9090, **completed(given)})
        elif service_of(workload) == "provision":
            assert provision.missing_variables({name.upper(): text for name, text in given.items()}) == []


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("ending", ["", "_PREVIOUS"])
def test_only_its_holders_get_an_encryption_key(overlay, ending: str) -> None:
    secrets = {name_of(it): it["spec"]["data"] for it in of_kind(overlay, "ExternalSecret") if "data" in it["spec"]}
    places = {
        (service, entry["secretKey"]): (entry["remoteRef"]["key"], entry["remoteRef"]["property"])
        for service in SETTINGS
        for entry in secrets.get(f"{service}-keys", [])
    }
    values = {
        name: {places[holder, name + ending] for holder in holders} for name, holders in KEYS_THAT_ENCRYPT.items()
    }
    assert all(len(found) == 1 for found in values.values())
    assert len(set.union(*values.values())) == len(KEYS_THAT_ENCRYPT)
    for name, [value] in values.items():
        assert {service for (service, _), place in places.items() if place == value} == KEYS_THAT_ENCRYPT[name]


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
MADE_BY_THE_CLUSTER_OPERATOR = {"broker-default-user"}
MADE_BY_CERT_MANAGER = {"acme-account"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_secrets_are_rotated_as_often_as_the_specification_demands(overlay) -> None:
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
def test_keys_with_a_rotation_schedule_are_declared(overlay) -> None:
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
def test_the_alert_reads_the_annotations_of_the_secrets(overlay) -> None:
    (config,) = [it for it in of_kind(overlay, "ConfigMap") if name_of(it) == "kube-state-metrics-secrets"]
    (given_settings,) = yaml.safe_load(config["data"]["secrets.yaml"])["spec"]["resources"]
    measured = {
        f"{given_settings['metricNamePrefix']}_{it['name']}": it["each"]["gauge"]["path"]
        for it in given_settings["metrics"]
    }
    assert measured["campus_secret_rotation_days"] == ["metadata", "annotations", "campus.example/rotation-days"]
    expressions = [
        rule["expr"]
        for it in of_kind(overlay, "PrometheusRule")
        if name_of(it) == "secrets-age"
        for group in it["spec"]["groups"]
        for rule in group["rules"]
    ]
    read = {name for text in expressions for name in re.findall(r"campus_secret_\w+", text)}
    assert read == set(measured)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_reloader_restarts_every_process_with_a_secret(overlay) -> None:
    for it in of_kind(overlay, "Deployment"):
        sources = it["spec"]["template"]["spec"]["containers"][0].get("envFrom", [])
        if any("secretRef" in source for source in sources):
            assert it["metadata"]["annotations"]["secret.reloader.stakater.com/auto"] == "true", name_of(it)
