"""Processes get the settings, secrets and permissions that the code needs."""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from opentelemetry.sdk.trace import TracerProvider
from pydantic_core import PydanticUndefined

import console.settings
from common.messaging import declaring
from common.messaging.topology import dead_letter_queue_of, declared_topology, delay_queue_of
from common.primitives.retry import RetryLadder
from contracts.topology import DELAY_EXCHANGE, RETRY_EXCHANGE, WORK_EXCHANGE
from operations import provision
from operations.audit.access import AUDITED, audit_secrets, database_variable
from operations.audit.report import database_url
from operations.broker_accounts import (
    QUEUES_MAX,
    SUBSCRIBER_LIMITS,
    SUBSCRIBER_POLICY,
    SUBSCRIBER_POLICY_NAME,
    Rights,
    rights_of_service,
    rights_of_subscriber,
)
from operations.cluster_secrets import Cluster, Entries, Servers, Target, new_values, secret_of
from operations.provision import AUDIT_ROLE
from operations.services import LOGINS, SERVICES, login_of, service_named
from tests.architecture.kustomize import OVERLAYS, Resource, containers_of, pod_of
from tests.architecture.manifests import (
    SETTINGS,
    completed,
    environment_of,
    keys_of_secrets,
    manifests,
    name_of,
    of_kind,
    possible,
    processes,
    service_of,
    texts_within,
    variables_of_the_image,
    workloads,
)
from tests.architecture.sources import ROOT

VERIFIED = "sslmode=verify-full&sslrootcert=/etc/campus/tls/ca.crt"
BROKER = "broker:5671/?cafile=/etc/campus/tls/ca.crt"
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

# With servers that operators run.
OPERATED = [overlay for overlay in OVERLAYS if overlay != "managed"]
READ_BY_THE_TRACING_LIBRARY = {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"}


# ---- Settings
# -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_processes_get_exactly_their_settings(overlay) -> None:
    for process in processes(overlay):
        fields = SETTINGS[service_of(process)].model_fields
        given_settings = set(environment_of(overlay, process))
        needed = {name.upper() for name, field in fields.items() if field.default is PydanticUndefined}
        assert given_settings - READ_BY_THE_TRACING_LIBRARY <= {name.upper() for name in fields}, name_of(process)
        assert needed <= given_settings | variables_of_the_image(), name_of(process)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_console_gets_its_settings_and_no_other_secret(overlay) -> None:
    (deployment,) = (it for it in of_kind(overlay, "Deployment") if name_of(it) == "console")
    given_settings = environment_of(overlay, deployment)
    assert set(given_settings) <= {name.upper() for name in console.settings.Settings.model_fields}
    settings = console.settings.Settings(
        **{"port": 8080, **{name.lower(): text for name, text in completed(given_settings).items()}}
    )
    assert settings.is_secure
    assert settings.base_url == completed(environment_of(overlay, processes(overlay)[0]))["BASE_URL"]
    assert settings.api_address == "https://api-gateway-api:8080"
    assert settings.environment == environment_of(overlay, processes(overlay)[0])["ENVIRONMENT"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_gateway_trusts_the_console_and_the_proxies_of_the_edge_only(overlay) -> None:
    (gateway,) = (it for it in processes(overlay) if service_of(it) == "api-gateway")
    trusted = environment_of(overlay, gateway)["TRUSTED_PROXIES"].split(",")
    assert trusted == ["console-pods", "proxies.edge.svc"]
    (pods,) = (it for it in of_kind(overlay, "Service") if name_of(it) == "console-pods")
    (deployment,) = (it for it in of_kind(overlay, "Deployment") if name_of(it) == "console")
    assert pods["spec"]["clusterIP"] == "None"
    assert pods["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]


def test_production_samples_one_trace_of_a_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    for process in processes("production"):
        given_settings = environment_of("production", process)
        assert given_settings.keys() >= READ_BY_THE_TRACING_LIBRARY, name_of(process)
        for name in READ_BY_THE_TRACING_LIBRARY:
            monkeypatch.setenv(name, given_settings[name])
        # The library ignores malformed values and samples everything: compare its own description of the sampler.
        sampler = TracerProvider().sampler.get_description()
        assert sampler.startswith("ParentBased{root:TraceIdRatioBased{0.01}"), name_of(process)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_settings_of_the_manifests_are_valid(overlay) -> None:
    for process in processes(overlay):
        given = {name.lower(): text for name, text in completed(environment_of(overlay, process)).items()}
        settings = SETTINGS[service_of(process)](**{"port": 8080, **given})
        # Every address inside is encrypted and verified, without a statement about the network.
        assert not settings.network_encrypted
        assert settings.inside_addresses["JWKS_URL"].startswith("https://identity-api:")
        assert settings.base_url.startswith("https://")
        assert settings.environment == ("staging" if overlay == "staging" else "production")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_certificates_have_the_names_that_clients_call(overlay) -> None:
    names = {name_of(it): it["spec"].get("dnsNames", []) for it in of_kind(overlay, "Certificate")}
    certificates = {it["spec"]["secretName"]: it["spec"] for it in of_kind(overlay, "Certificate")}
    for process in processes(overlay):
        addresses = [text for text in environment_of(overlay, process).values() if "://" in text]
        for host in {urlsplit(address).hostname for address in addresses} & {name_of(it) for it in targets(overlay)}:
            if host != "sandbox":
                assert any(host in hosts for hosts in names.values()), host
    for it in of_kind(overlay, "Cluster"):
        of_the_server = it["spec"]["certificates"]
        assert {*of_the_server.values()} <= certificates.keys()
        assert f"{name_of(it)}-rw" in certificates[of_the_server["serverTLSSecret"]]["dnsNames"]
    for it in of_kind(overlay, "RabbitmqCluster"):
        assert it["spec"]["tls"]["disableNonTLSListeners"]
        assert name_of(it) in certificates[it["spec"]["tls"]["secretName"]]["dnsNames"]
    for it in of_kind(overlay, "BackendTLSPolicy"):
        assert it["spec"]["validation"]["hostname"] in names[f"{name_of(it).removesuffix('-api')}-tls"]


def targets(overlay: str) -> list[Resource]:
    """Return what a client inside calls by its name."""
    return of_kind(overlay, "Service", "Pooler", "RabbitmqCluster")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_all_processes_of_a_service_get_the_same_settings(overlay) -> None:
    for service in SETTINGS:
        given_settings = [
            environment_of(overlay, it)
            for it in (*processes(overlay), *of_kind(overlay, "CronJob"))
            if service_of(it) == service
        ]
        assert all(it == given_settings[0] for it in given_settings), service


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_audit_gets_its_read_only_login_and_what_it_compares_with(overlay) -> None:
    (job,) = (it for it in of_kind(overlay, "CronJob") if name_of(it) == "audit")
    given = environment_of(overlay, job)
    assert set(audit_secrets(Path("/nowhere"), given)) == {
        *(database_variable(service) for service in AUDITED),
        "GATEWAY_SECRET_KEY",
        "FLUTTERWAVE_SECRET_KEY",
        "SERVICE_ROLE_KEY",
    }
    for service in AUDITED:
        address = urlsplit(database_url(given, service))
        assert (address.username, address.path) == (AUDIT_ROLE, f"/campus_{service}")
        assert overlay == "managed" or address.hostname == f"{service}-db-rw"
    payments = next(it for it in processes(overlay) if service_of(it) == "payments")
    assert given["GATEWAY_API_URL"] == environment_of(overlay, payments)["GATEWAY_API_URL"]
    assert given["FLUTTERWAVE_API_URL"] == environment_of(overlay, payments)["FLUTTERWAVE_API_URL"]
    if overlay != "staging":
        assert given["FLUTTERWAVE_API_URL"] == SETTINGS["payments"].model_fields["flutterwave_api_url"].default
    pod = pod_of(job)["spec"]
    assert pod["containers"][0]["args"] == ["--scheduled"]
    # The lists of an interrupted container are continued by its successor in the same pod.
    mounted = {it["mountPath"] for it in pod["containers"][0]["volumeMounts"]}
    assert pod["restartPolicy"] == "OnFailure"
    assert given["STATE_DIR"] in mounted


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_only_a_migration_gets_the_owner_s_address(overlay) -> None:
    component = "app.kubernetes.io/component"
    migrations = [job for job in of_kind(overlay, "Job") if job["metadata"]["labels"][component] == "migration"]
    jobs = [job for job in migrations if name_of(job) != "broker-topology"]
    for job in jobs:
        service = service_named(service_of(job))
        assert set(environment_of(overlay, job)) == {"OWNER_DATABASE_URL"}
        address = environment_of(overlay, job)["OWNER_DATABASE_URL"]
        host = "secret" if overlay == "managed" else f"{service.name}-db-rw:5432"
        assert address.partition("?")[0] == f"postgresql://{service.owner_role}:secret@{host}/{service.database}"
    assert {service_of(job) for job in jobs} == set(SETTINGS)


@pytest.mark.parametrize("overlay", OPERATED)
def test_the_queues_are_declared_with_an_account_that_no_process_has(overlay) -> None:
    (job,) = (job for job in of_kind(overlay, "Job") if name_of(job) == "broker-topology")
    assert environment_of(overlay, job) == {"BROKER_URL": f"amqps://topology:secret@{BROKER}"}
    assert pod_of(job)["spec"]["containers"][0]["args"] == [declaring.COMMAND]
    for process in processes(overlay):
        assert environment_of(overlay, process)["BROKER_URL"] == f"amqps://{service_of(process)}:secret@{BROKER}"
        # The default: an account that the broker validated.
        assert "BROKER_VERIFIED_PUBLISHERS" not in environment_of(overlay, process)


def test_the_shared_cluster_has_the_databases_and_roles_of_the_separate_ones() -> None:
    (cluster,) = (it["spec"] for it in of_kind("small", "Cluster"))
    separate = [it["spec"] for it in of_kind("production", "Cluster")]
    created = cluster["bootstrap"]["initdb"]
    statements = [*created["postInitSQL"], *created["postInitApplicationSQL"]]
    for spec in separate:
        its = spec["bootstrap"]["initdb"]
        assert {*its["postInitSQL"], *its["postInitApplicationSQL"]} <= {*statements}
        made = (
            statements.index(f"CREATE DATABASE {its['database']} OWNER {its['owner']} ENCODING 'UTF8'")
            if (its["database"] != created["database"])
            else -1
        )
        # The right to connect is revoked and granted once the database exists.
        assert all(statements.index(it) > made for it in its["postInitApplicationSQL"])
    assert len(statements) == len({*statements}), "a second CREATE ROLE would fail"
    roles = {role["name"]: role for spec in separate for role in spec["managed"]["roles"]}
    assert {role["name"] for role in cluster["managed"]["roles"]} == set(roles)
    assert cluster["postgresql"] == separate[0]["postgresql"]


def test_the_names_of_separate_databases_lead_to_the_shared_one() -> None:
    services = {name_of(it): it["spec"] for it in of_kind("small", "Service")}
    for service in SERVICES:
        assert services[f"{service.name}-db-rw"]["selector"] == {
            "cnpg.io/cluster": "campus-db",
            "cnpg.io/instanceRole": "primary",
        }
        assert services[f"{service.name}-pooler"]["selector"] == {"cnpg.io/poolerName": "campus-pooler"}


@pytest.mark.parametrize("overlay", sorted({*OPERATED} - {"small"}))
def test_databases_and_roles_are_those_of_the_code(overlay) -> None:
    clusters = {name_of(it): it["spec"] for it in of_kind(overlay, "Cluster")}
    assert set(clusters) == {f"{service.name}-db" for service in SERVICES}
    for service in SERVICES:
        spec = clusters[f"{service.name}-db"]
        created = spec["bootstrap"]["initdb"]
        assert (created["database"], created["owner"]) == (service.database, service.owner_role)
        assert created["postInitSQL"] == [
            f"CREATE ROLE {service.api_role} NOBYPASSRLS",
            f"CREATE ROLE {service.service_role} BYPASSRLS",
            *([f"CREATE ROLE {AUDIT_ROLE} BYPASSRLS"] if service.name in AUDITED else []),
            "REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC",
        ]
        roles = {role.pop("name"): role for role in deepcopy(spec["managed"]["roles"])}
        assert all(role["login"] for role in roles.values())
        held = {name: (role.get("bypassrls", False), role.get("inRoles", [])) for name, role in roles.items()}
        assert held == {
            service.owner_role: (False, []),
            **{login_of(service.api_role, character): (False, [service.api_role]) for character in LOGINS},
            **{login_of(service.service_role, character): (True, [service.service_role]) for character in LOGINS},
            **({AUDIT_ROLE: (True, [])} if service.name in AUDITED else {}),
        }
        secrets = {name_of(it): it["spec"] for it in of_kind(overlay, "ExternalSecret")}
        for name, role in roles.items():
            fetched = secrets[role["passwordSecret"]["name"]]
            assert fetched["target"]["template"]["data"]["username"] == name
            (entry,) = fetched["data"]
            assert entry["remoteRef"]["property"] == name.removeprefix(f"{service.database}_").removeprefix("campus_")
        given_settings = environment_of(
            overlay, next(it for it in processes(overlay) if service_of(it) == service.name)
        )
        for name, role in (("API_DATABASE_URL", service.api_role), ("SERVICE_DATABASE_URL", service.service_role)):
            login = f"{role}_a:secret@{service.name}-pooler:5432"
            assert given_settings[name] == f"postgresql://{login}/{service.database}?{VERIFIED}"


# ---- Secrets
# ------------------------------------------------------------------------------------------------------------

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


# ---- Servers
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_poolers_keep_as_many_statements_as_the_drivers(overlay) -> None:
    source = (ROOT / "libs/common/src/common/database/connecting.py").read_text()
    statements = int(re.search(r"statement_cache_size=(\d+)", source)[1])
    for it in of_kind(overlay, "Pooler"):
        parameters = it["spec"]["pgbouncer"]["parameters"]
        assert int(parameters["max_prepared_statements"]) >= statements
        assert it["spec"]["pgbouncer"]["poolMode"] == "transaction"


# ---- The broker's rights
# ------------------------------------------------------------------------------------------------


def spec_of_rights(overlay: str, account: str) -> Rights:
    (permission,) = (it["spec"]["permissions"] for it in of_kind(overlay, "Permission") if name_of(it) == account)
    topics = {
        it["spec"]["permissions"]["exchange"]: (it["spec"]["permissions"]["write"], it["spec"]["permissions"]["read"])
        for it in of_kind(overlay, "TopicPermission")
        if it["spec"]["userReference"]["name"] == account
    }
    return Rights(permission["configure"], permission["write"], permission["read"], topics)


@pytest.mark.parametrize("overlay", OPERATED)
def test_accounts_have_the_permissions_tested_on_a_broker(overlay) -> None:
    """`operations/tests/test_broker_accounts.py` tries them."""
    for service in SETTINGS:
        assert spec_of_rights(overlay, f"broker-{service}") == rights_of_service(service)
    assert spec_of_rights(overlay, "subscriber-demo") == rights_of_subscriber("demo")
    users = {name_of(it): it["spec"] for it in of_kind(overlay, "User")}
    assert {name_of(it) for it in of_kind(overlay, "Permission")} == set(users)
    assert not any("administrator" in user.get("tags", []) for user in users.values())


@pytest.mark.parametrize("overlay", OPERATED)
def test_the_provisioner_s_account_declares_the_whole_topology(overlay) -> None:
    topology = declared_topology(RetryLadder())
    ours = {
        topology.events_exchange,
        topology.public_exchange,
        topology.marker,
        WORK_EXCHANGE,
        RETRY_EXCHANGE,
        DELAY_EXCHANGE,
    }
    ours |= {delay_queue_of(delay) for delay in topology.ladder.delays_seconds}
    ours |= {*topology.bindings, *(dead_letter_queue_of(name) for name in topology.bindings)}
    rights = spec_of_rights(overlay, "broker-topology")
    for pattern in (rights.configure, rights.write, rights.read):
        assert all(re.search(pattern, name) for name in ours)
        assert not any(re.search(pattern, foreign) for foreign in ("sub.demo.orders", "amq.topic", "other"))
    # A queue that dead-letters by the default exchange needs the right to write there.
    assert re.search(rights.write, "amq.default")


@pytest.mark.parametrize("overlay", OPERATED)
def test_subscribers_have_the_limits_tested_on_a_broker(overlay) -> None:
    (subscriber,) = (it["spec"] for it in of_kind(overlay, "User") if name_of(it) == "subscriber-demo")
    named = {"connections": "max-connections", "channels": "max-channels"}
    assert {named[name]: number for name, number in subscriber["limits"].items()} == SUBSCRIBER_LIMITS
    (policy,) = (it["spec"] for it in of_kind(overlay, "Policy") if name_of(it) == SUBSCRIBER_POLICY_NAME)
    assert (policy["pattern"], policy["applyTo"]) == (SUBSCRIBER_POLICY["pattern"], SUBSCRIBER_POLICY["apply-to"])
    assert policy["definition"] == SUBSCRIBER_POLICY["definition"]
    (host,) = (it["spec"] for it in of_kind(overlay, "Vhost"))
    assert (host["name"], host["limits"], host["deletionPolicy"]) == ("/", {"queues": QUEUES_MAX}, "retain")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_reloader_restarts_every_process_with_a_secret(overlay) -> None:
    for it in of_kind(overlay, "Deployment"):
        sources = it["spec"]["template"]["spec"]["containers"][0].get("envFrom", [])
        if any("secretRef" in source for source in sources):
            assert it["metadata"]["annotations"]["secret.reloader.stakater.com/auto"] == "true", name_of(it)
