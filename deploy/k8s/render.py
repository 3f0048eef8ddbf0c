#!/usr/bin/env python3
"""Writes manifests for kustomize and GitOps tools: of each service's database and server accounts from templates/, of
the alert rules and routes of deploy/observability, and of the subscribing teams.

python deploy/k8s/render.py            # writes; part of `make documents`
python deploy/k8s/render.py --check    # ends with status 1 and the names of stale files
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

import yaml

from common.database.connecting import SERVER_SETTINGS
from operations.database_settings import cluster_parameters
from operations.subscribers import load_teams, manifests_of

FOLDER = Path(__file__).parent
OBSERVABILITY = FOLDER.parent / "observability"
# Which of a service's pods connect to its pooler.
COMPONENTS = {
    "api-gateway": "api",
    "identity": "api, worker, key-rotation",
    "orders": "api, worker",
    "payments": "api, worker",
    "payouts": "api, worker",
    "notifications": "api, worker",
}
# The databases that the audit reads, with its lines of `database.yaml`.
AUDITED = ("orders", "payments", "payouts")
AUDIT_LINES = {
    "audit_role": "        - CREATE ROLE campus_audit BYPASSRLS\n",
    "audit_grant": ", campus_audit",
    "audit_login": """\
      - name: campus_audit
        login: true
        bypassrls: true
        passwordSecret: {{name: {}-database-role-audit}}
""",
}
# The one cluster of all databases in the overlay `small`.
SHARED = "campus-db"
# By this name Prometheus verifies each pod, which it reaches by its address.
METRICS = "metrics"
# The certificates inside, by their file and their Secret: the names of Services.
CERTIFICATES = {
    "base/tls/certificates.yaml": {
        **{f"{service}-tls": [f"{service}-api", METRICS] for service in COMPONENTS},
        "console-tls": ["console", METRICS],
    },
    "components/broker/certificate.yaml": {"broker-tls": ["broker", METRICS]},
    "components/valkey/certificate.yaml": {"valkey-tls": ["valkey"]},
}
READ_AT_THE_START = ("valkey-tls",)
BROKER_NODES = 3
TARGETS = {
    "database.yaml": "components/databases/{}.yaml",
    "server-accounts.yaml": "components/server-accounts/{}.yaml",
    "managed-accounts.yaml": "components/managed/{}.yaml",
}


def manifests() -> dict[Path, str]:
    """Each rendered manifest by its path."""
    rendered = {}
    for template, target in TARGETS.items():
        text = Template((FOLDER / "templates" / template).read_text())
        for index, (service, components) in enumerate(COMPONENTS.items()):
            values = {
                "service": service,
                "database": service.replace("-", "_"),
                "components": components,
                # The nightly backups start ten minutes apart.
                "minute": str(10 * index),
                "parameters": "".join(f'      {name}: "{text}"\n' for name, text in cluster_parameters().items()),
                "startup_parameters": ",".join(SERVER_SETTINGS),
                **SERVER_SETTINGS,
            }
            values |= {name: line.format(service) if service in AUDITED else "" for name, line in AUDIT_LINES.items()}
            heading = f"# Written from templates/{template} by `make documents`.\n"
            made = heading + text.substitute(values)
            if template == "database.yaml":
                made += "---\n" + _dumped([certificate(f"{service}-db-tls", database_names(service))])
            rendered[FOLDER / target.format(service)] = made
    shared = shared_database({it: rendered[FOLDER / TARGETS["database.yaml"].format(it)] for it in COMPONENTS})
    rendered[FOLDER / "components/shared-database/database.yaml"] = (
        "# Written from templates/database.yaml by `make documents`.\n" + _dumped(shared)
    )
    for path, certificates in CERTIFICATES.items():
        made = [certificate(secret, names) for secret, names in certificates.items()]
        if "broker-tls" in certificates:
            made.append(certificate_of_nodes())
        rendered[FOLDER / path] = "# Written by deploy/k8s/render.py (`make documents`).\n" + _dumped(made)
    rules = [prometheus_rule(path) for path in sorted((OBSERVABILITY / "prometheus/rules").glob("*.yml"))]
    routes = alertmanager_config(OBSERVABILITY / "alertmanager/alertmanager.yml")
    for name, source, resources in (
        ("rules.yaml", "prometheus/rules", rules),
        ("alert-routes.yaml", "alertmanager/alertmanager.yml", [routes]),
    ):
        heading = f"# Written from deploy/observability/{source} by `make documents`.\n"
        text = yaml.safe_dump_all(resources, sort_keys=False, width=140)
        rendered[FOLDER / "components/monitoring" / name] = heading + text
    return rendered | manifests_of(FOLDER, load_teams(FOLDER.parent / "subscribers.yaml"))


class Plain(yaml.SafeDumper):
    """Writes shared parts in full."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def shared_database(manifests: dict[str, str]) -> list[dict[str, Any]]:
    """Return one cluster, named `campus-db`, in place of those of the services: their databases and roles, one pooler,
    one backup, and the connections of all.

    A Service for each name of a separate cluster or pooler leads there, so that the addresses in the secrets are the
    same in both forms.
    """
    of_service = {it: [*yaml.safe_load_all(text)] for it, text in manifests.items()}
    first, *_ = of_service.values()
    shared = yaml.safe_load_all(
        yaml.safe_dump_all(first).replace("api-gateway-db", SHARED).replace("api-gateway-pooler", "campus-pooler")
    )
    cluster, pooler, budget, backup, pooler_policy, policy, _ = shared
    names = [name for service in of_service for name in database_names(service)]
    statements: dict[str, None] = {}
    roles: dict[str, Any] = {}
    for service, (its_cluster, *_, its_pooler_policy, its_policy, _) in of_service.items():
        created = its_cluster["spec"]["bootstrap"]["initdb"]
        own = created["postInitSQL"]
        if service != "api-gateway":
            # The operator makes database and owner of the first only, after these statements. It sets the password of
            # each role.
            database, owner = created["database"], created["owner"]
            own += [f"CREATE ROLE {owner}", f"CREATE DATABASE {database} OWNER {owner} ENCODING 'UTF8'"]
            own += created["postInitApplicationSQL"]
            pooler_policy["spec"]["ingress"][0]["from"] += its_pooler_policy["spec"]["ingress"][0]["from"]
            policy["spec"]["ingress"][0]["from"].append(its_policy["spec"]["ingress"][0]["from"][1])
        # A statement of several clusters runs once: the role of the audit.
        statements |= dict.fromkeys(own)
        for role in its_cluster["spec"]["managed"]["roles"]:
            roles.setdefault(role["name"], role)
    cluster["spec"]["bootstrap"]["initdb"]["postInitSQL"] = [*statements]
    cluster["spec"]["managed"]["roles"] = [*roles.values()]
    aliases = []
    for service in of_service:
        aliases.append(_alias(f"{service}-db-rw", {"cnpg.io/cluster": SHARED, "cnpg.io/instanceRole": "primary"}))
        aliases.append(_alias(f"{service}-pooler", {"cnpg.io/poolerName": "campus-pooler"}))
    secret = certificate(f"{SHARED}-tls", [f"{SHARED}-rw", *names])
    return [cluster, pooler, budget, backup, pooler_policy, policy, secret, *aliases]


def database_names(service: str) -> list[str]:
    """Return the names at which clients reach a service's database and its pooler."""
    return [f"{service}-db-rw", f"{service}-pooler"]


def certificate(secret: str, names: Sequence[str]) -> dict[str, Any]:
    """Return a certificate of the authority inside, for the names of Services, and the Secret that it fills.

    CloudNativePG reads a changed Secret with its label. Reloader restarts only a process that cannot read it again.
    """
    template: dict[str, Any] = {"labels": {"cnpg.io/reload": ""}}
    if secret not in READ_AT_THE_START:
        template["annotations"] = {"reloader.stakater.com/ignore": "true"}
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": secret, "labels": {"app.kubernetes.io/part-of": "campus"}},
        "spec": {
            "secretName": secret,
            "secretTemplate": template,
            "dnsNames": [form for name in names for form in (name, f"{name}.campus.svc")],
            "usages": ["digital signature", "server auth"],
            "issuerRef": {"kind": "Issuer", "name": "inside"},
            "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
            "duration": "2160h",
            "renewBefore": "720h",
        },
    }


def certificate_of_nodes() -> dict[str, Any]:
    """Return the certificate of RabbitMQ's nodes for each other: each one is server and client."""
    made = certificate("broker-nodes-tls", [])
    made["spec"]["dnsNames"] = [f"broker-server-{node}.broker-nodes.campus" for node in range(BROKER_NODES)]
    made["spec"]["usages"].append("client auth")
    return made


def _dumped(resources: Sequence[dict[str, Any]]) -> str:
    return yaml.dump_all(resources, Dumper=Plain, sort_keys=False, width=140)


def _alias(name: str, selector: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "campus"}},
        "spec": {"selector": selector, "ports": [{"name": "postgresql", "port": 5432, "targetPort": 5432}]},
    }


def prometheus_rule(path: Path) -> dict[str, Any]:
    """Return a rule file of Prometheus as a resource of its operator, named like the file."""
    return _of_the_operator("v1", "PrometheusRule", path.stem, {"groups": yaml.safe_load(path.read_text())["groups"]})


def alertmanager_config(path: Path) -> dict[str, Any]:
    """Routes and inhibitions of Alertmanager as a resource of its operator. Each receiver calls PagerDuty with
    ON_CALL_KEY.
    """
    config = yaml.safe_load(path.read_text())
    route = _route(config["route"])
    rules = [
        {
            "sourceMatch": [_matcher(text) for text in rule["source_matchers"]],
            "targetMatch": [_matcher(text) for text in rule["target_matchers"]],
            "equal": rule["equal"],
        }
        for rule in config["inhibit_rules"]
    ]
    severities = {"sev-1": "critical", "sev-2": "error", "sev-3": "warning"}
    receivers = [
        {
            "name": receiver["name"],
            "pagerdutyConfigs": [
                {
                    "routingKey": {"name": "providers-keys", "key": "ON_CALL_KEY"},
                    "severity": severities[receiver["name"]],
                    "sendResolved": True,
                }
            ],
        }
        for receiver in config["receivers"]
    ]
    spec = {"route": route, "inhibitRules": rules, "receivers": receivers}
    return _of_the_operator("v1alpha1", "AlertmanagerConfig", "campus", spec)


def _route(route: dict[str, Any]) -> dict[str, Any]:
    """Return a route with the operator's names of the same fields."""
    renamed = {re.sub("_(.)", lambda found: found[1].upper(), name): value for name, value in route.items()}
    if "matchers" in renamed:
        renamed["matchers"] = [_matcher(text) for text in renamed["matchers"]]
    if "routes" in renamed:
        renamed["routes"] = [_route(inner) for inner in renamed["routes"]]
    return renamed


def _matcher(text: str) -> dict[str, str]:
    """Parse a matcher. The type `=` is the default, and left out: as a plain scalar some YAML parsers reject it."""
    name, kind, value = re.fullmatch(r'(\w+)(=~|!~|!=|=)"(.*)"', text).groups()
    return {"name": name, "value": value, **({"matchType": kind} if kind != "=" else {})}


def _of_the_operator(version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": f"monitoring.coreos.com/{version}",
        "kind": kind,
        "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "campus"}},
        "spec": spec,
    }


def main() -> None:
    stale = [path for path, text in manifests().items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        names = ", ".join(str(path.relative_to(FOLDER)) for path in stale)
        sys.exit(f"stale: {names}; run `make documents`" if stale else 0)
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(manifests()[path])


if __name__ == "__main__":
    main()
