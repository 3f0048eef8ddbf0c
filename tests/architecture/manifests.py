"""The rendered manifests of deploy/k8s, and the settings of each process in them."""

import atexit
import base64
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import api_gateway.settings
import identity.settings
import notifications.settings
import orders.settings
import payments.settings
import payouts.settings
from common.process.settings import ServiceSettings
from testkit.certificates import Authority
from tests.architecture.kustomize import Resource, pod_of, rendered
from tests.architecture.sources import ROOT

SETTINGS: dict[str, type[ServiceSettings]] = {
    "api-gateway": api_gateway.settings.Settings,
    "identity": identity.settings.Settings,
    "orders": orders.settings.Settings,
    "payments": payments.settings.Settings,
    "payouts": payouts.settings.Settings,
    "notifications": notifications.settings.Settings,
}


# The files of TLS between machines; on one machine loopback stays plain.
INSIDE_FILES = {"INSIDE_CA_FILE", "INSIDE_CERTIFICATE_FILE", "INSIDE_KEY_FILE"}


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
    """Return the Deployments of our own services."""
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


def keys_of_secrets(overlay: str) -> dict[str, dict[str, str]]:
    """Return what the ExternalSecrets make: the variables of each, with the templates of their values."""
    secrets = {}
    for it in of_kind(overlay, "ExternalSecret"):
        template = it["spec"]["target"].get("template", {}).get("data")
        secrets[name_of(it)] = template or {entry["secretKey"]: "" for entry in it["spec"]["data"]}
    return secrets


def environment_of(overlay: str, workload: Resource) -> dict[str, str]:
    """Return the variables of a workload's container; a secret's value is one that could be."""
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


def completed(settings: dict[str, str]) -> dict[str, str]:
    """Return settings as an operator completes them: own hosts, and mounted certificates."""
    hosts = {name: text.replace(".example", ".com.ng") for name, text in settings.items()}
    return {name: _MOUNTED.sub(lambda found: _certificates()[found[1]], text) for name, text in hosts.items()}


_MOUNTED = re.compile(r"/etc/campus/(?:authorities|tls)/(root\.pem|ca\.crt|tls\.crt|tls\.key)")


@cache
def _certificates() -> dict[str, str]:
    """Return a file for the name of each that a pod mounts."""
    folder, authority = Path(mkdtemp()), Authority()
    atexit.register(rmtree, folder)
    (folder / "ca.pem").write_bytes(authority.pem)
    pair = str(authority.issue(folder / "pair.pem", "orders-api"))
    return {**dict.fromkeys(("root.pem", "ca.crt"), str(folder / "ca.pem")), "tls.crt": pair, "tls.key": pair}


def possible(name: str, template: str) -> str:
    if name == "SMTP_URL":
        return "smtps://campus:secret@mail.example:465"
    if name in ("RELEASE_SIGNING_KEY", "RELEASE_VERIFY_KEYS"):
        return base64.urlsafe_b64encode(bytes(32)).decode()
    if name == "BOOTSTRAP_ADMIN_EMAIL":
        return "admin@campus.example"
    if name == "OIDC_PROVIDERS":
        return "[]"
    return re.sub(r"{{.*?}}", "secret", template.replace("{{ .login }}", "a")) or "0123456789abcdef0123456789abcdef"


def variables_of_the_image() -> set[str]:
    line = next(it for it in (ROOT / "deploy/Dockerfile").read_text().splitlines() if it.startswith("ENV PATH="))
    return {word.partition("=")[0] for word in line.split()[1:]}


UNITS = {"m": 1e-3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def quantity(text: str | float) -> float:
    """Return a quantity of Kubernetes in cores or bytes."""
    number, unit = re.fullmatch(r"([\d.]+)(m|[KMG]i)?", str(text)).groups()
    return float(number) * UNITS.get(unit, 1)


def requests_of(resources: list[Resource]) -> dict[str, float]:
    """Return the requested cores and bytes of all pods: autoscalers at their minimum, every Job and CronJob at once,
    the servers of the operators with the sidecar that uploads backups.
    """
    replicas = {
        it["spec"]["scaleTargetRef"]["name"]: it["spec"].get("minReplicas") or it["spec"]["minReplicaCount"]
        for it in resources
        if it["kind"] in ("HorizontalPodAutoscaler", "ScaledObject")
    }
    sidecars = [
        it["spec"]["instanceSidecarConfiguration"]["resources"] for it in resources if it["kind"] == "ObjectStore"
    ]
    pods: list[tuple[int, dict[str, Any]]] = []
    for it in resources:
        spec = it.get("spec", {})
        if pod := pod_of(it):
            count = replicas.get(name_of(it), spec.get("replicas", 1))
            pods += [(count, container["resources"]) for container in pod["spec"]["containers"]]
        elif it["kind"] == "Cluster":
            pods += [(spec["instances"], resources) for resources in (spec["resources"], *sidecars)]
        elif it["kind"] == "Pooler":
            pods += [
                (spec["instances"], container["resources"]) for container in spec["template"]["spec"]["containers"]
            ]
        elif it["kind"] == "RabbitmqCluster":
            pods.append((spec["replicas"], spec["resources"]))
    return {
        kind: sum(count * quantity(resources["requests"][kind]) for count, resources in pods)
        for kind in ("cpu", "memory")
    }
