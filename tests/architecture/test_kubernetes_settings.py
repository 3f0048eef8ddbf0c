"""Processes and databases get the settings that the code needs."""

from copy import deepcopy
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from opentelemetry.sdk.trace import TracerProvider
from pydantic_core import PydanticUndefined

import console.settings
from common.messaging import declaring
from operations.audit.access import AUDITED, audit_secrets, database_variable
from operations.audit.report import database_url
from operations.provision import AUDIT_ROLE
from operations.services import LOGINS, SERVICES, login_of, service_named
from tests.architecture.kustomize import OPERATED, OVERLAYS, Resource, pod_of
from tests.architecture.manifests import (
    SETTINGS,
    completed,
    environment_of,
    name_of,
    of_kind,
    processes,
    service_of,
    variables_of_the_image,
)

VERIFIED = "sslmode=verify-full&sslrootcert=/etc/campus/tls/ca.crt"
BROKER = "broker:5671/?cafile=/etc/campus/tls/ca.crt"
READ_BY_THE_TRACING_LIBRARY = {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"}


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
