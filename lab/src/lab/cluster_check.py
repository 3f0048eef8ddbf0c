"""Compare the cluster of kubectl's current context with an overlay, after a roll-out; changes nothing.

The server validates every object (a strict dry run) and reports differences. Then the namespace is checked: pods run,
budgets and Services select pods, policies select pods, and no process has permissions of the cluster. Read access to
the namespace is enough; with the permission to list namespaces, roles without a namespace are reported too.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Resource = dict[str, Any]

OVERLAYS = Path(__file__).parents[3] / "deploy" / "k8s" / "overlays"
NAMESPACE = "campus"
READ = (
    "pods,deployments.apps,cronjobs.batch,services,endpointslices.discovery.k8s.io,poddisruptionbudgets.policy,"
    "horizontalpodautoscalers.autoscaling,networkpolicies.networking.k8s.io,rolebindings.rbac.authorization.k8s.io"
)
# A Job cannot be changed in place: the server would reject every newer migration. Its pods are temporary.
COMPONENT = "app.kubernetes.io/component"
LASTING = f"{COMPONENT} notin (provision, migration, demo-data)"
PASSING = {"provision", "migration", "demo-data", "key-rotation", "audit"}
# Servers that an operator runs, and the label of their pods: an overlay with the servers of a provider has neither.
OPERATED = {"kind: Cluster\n": "cnpg.io/", "kind: RabbitmqCluster\n": "rabbitmq"}
ROLE = "campus.example/role"


def faults_of(resources: list[Resource], absent: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the faults among the resources of the namespace, one sentence each.

    `absent`: labels of servers that the overlay does not have, which policies may name.
    """
    by_kind: dict[str, list[Resource]] = {}
    for it in resources:
        by_kind.setdefault(it["kind"], []).append(it)
    pods = [it for it in by_kind.get("Pod", []) if it["status"].get("phase") not in ("Succeeded", "Failed")]
    yield from stopped(by_kind)
    yield from faults_of_pods(pods)
    yield from faults_of_budgets(by_kind.get("PodDisruptionBudget", []), pods)
    yield from faults_of_services(by_kind.get("Service", []), by_kind.get("EndpointSlice", []))
    deployed = {name_of(it) for it in by_kind.get("Deployment", [])}
    for it in by_kind.get("HorizontalPodAutoscaler", []):
        target = it["spec"]["scaleTargetRef"]
        if target["kind"] == "Deployment" and target["name"] not in deployed:
            yield f"autoscaler {name_of(it)} scales {target['name']}, which is not there"
    yield from faults_of_policies(by_kind.get("NetworkPolicy", []), pods, absent)
    accounts = {it["spec"]["serviceAccountName"] for it in pods if is_ours(it)}
    for it in by_kind.get("RoleBinding", []):
        for subject in it.get("subjects", []):
            if subject["kind"] == "ServiceAccount" and subject["name"] in accounts:
                yield f"role binding {name_of(it)} gives the account {subject['name']} a right over the cluster"


def stopped(by_kind: dict[str, list[Resource]]) -> Iterator[str]:
    for it in by_kind.get("Deployment", []):
        if it["spec"].get("replicas") == 0:
            yield f"Deployment {name_of(it)} is stopped: it has 0 replicas"
    for it in by_kind.get("CronJob", []):
        if it["spec"].get("suspend"):
            yield f"CronJob {name_of(it)} is suspended"


def faults_of_pods(pods: list[Resource]) -> Iterator[str]:
    for it in pods:
        conditions = {entry["type"]: entry["status"] for entry in it["status"].get("conditions", [])}
        if conditions.get("PodScheduled") != "True":
            yield f"pod {name_of(it)} has no node"
        elif conditions.get("Ready") != "True":
            yield f"pod {name_of(it)} is not ready"
        if is_ours(it) and it["spec"].get("automountServiceAccountToken") is not False:
            yield f"pod {name_of(it)} has a token of the cluster"


def faults_of_budgets(budgets: list[Resource], pods: list[Resource]) -> Iterator[str]:
    holders: dict[str, list[str]] = {}
    for it in budgets:
        held = [name_of(pod) for pod in pods if is_selected(it["spec"]["selector"], labels_of(pod))]
        for name in held:
            holders.setdefault(name, []).append(name_of(it))
        # An operator's budgets protect a primary on purpose.
        if it["metadata"].get("ownerReferences"):
            continue
        if not held:
            yield f"disruption budget {name_of(it)} holds no pod"
        elif it["status"]["disruptionsAllowed"] < 1:
            yield f"disruption budget {name_of(it)} lets no pod go: a drain would wait"
    for name, names in holders.items():
        if len(names) > 1:
            yield f"pod {name} cannot be evicted: {' and '.join(names)} both hold it"


def faults_of_services(services: list[Resource], slices: list[Resource]) -> Iterator[str]:
    ready = {
        it["metadata"].get("labels", {}).get("kubernetes.io/service-name")
        for it in slices
        if any(endpoint["conditions"].get("ready") for endpoint in it.get("endpoints") or [])
    }
    for it in services:
        if it["spec"].get("selector") and name_of(it) not in ready:
            yield f"Service {name_of(it)} leads to no ready pod"


def faults_of_policies(policies: list[Resource], pods: list[Resource], absent: tuple[str, ...]) -> Iterator[str]:
    for it in policies:
        spec = it["spec"]
        inside = [it["podSelector"] for it in peers_of(spec) if "podSelector" in it and "namespaceSelector" not in it]
        for selector in (spec["podSelector"], *inside):
            if PASSING & set(selected_values(selector, COMPONENT)) or any(it in json.dumps(selector) for it in absent):
                continue
            if not any(is_selected(selector, labels_of(pod)) for pod in pods):
                yield f"network policy {name_of(it)} means {json.dumps(selector)}, which no pod is"


def roles_without_namespace(policies: list[Resource], namespaces: list[Resource]) -> set[str]:
    """Return the roles that policies allow, but no namespace of the cluster has."""
    selectors = [peer.get("namespaceSelector", {}) for it in policies for peer in peers_of(it["spec"])]
    required = {role for selector in selectors for role in selected_values(selector, ROLE)}
    return required - {labels_of(it).get(ROLE) for it in namespaces}


def peers_of(policy: Resource) -> list[Resource]:
    rules = [*policy.get("ingress", []), *policy.get("egress", [])]
    return [peer for rule in rules for peer in (*rule.get("from", []), *rule.get("to", []))]


def is_ours(resource: Resource) -> bool:
    return labels_of(resource).get("app.kubernetes.io/part-of") == "campus"


def name_of(resource: Resource) -> str:
    return str(resource["metadata"]["name"])


def labels_of(resource: Resource) -> dict[str, str]:
    return resource["metadata"].get("labels") or {}


def selected_values(selector: Resource, key: str) -> list[str]:
    listed = [it.get("values", []) for it in selector.get("matchExpressions", []) if it["key"] == key]
    one = selector.get("matchLabels", {}).get(key)
    return [*(value for values in listed for value in values), *([one] if one else [])]


def is_selected(selector: Resource, labels: dict[str, str]) -> bool:
    """Evaluate a label selector as the server does: an empty one selects everything."""
    for expression in selector.get("matchExpressions", []):
        value, values = labels.get(expression["key"]), expression.get("values", [])
        if not {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }[expression["operator"]]:
            return False
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


# ---- Querying the cluster
# -----------------------------------------------------------------------------------------------


def kubectl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["kubectl", *arguments], capture_output=True, text=True, check=False)


def faults_of_the_server(overlay: str) -> Iterator[str]:
    chosen = ("-k", str(OVERLAYS / overlay), "-l", LASTING)
    tried = kubectl("apply", "--server-side", "--force-conflicts", "--validate=strict", "--dry-run=server", *chosen)
    yield from (f"the server reports: {line}" for line in tried.stderr.splitlines() if line)
    compared = kubectl("diff", "--server-side", "--force-conflicts", *chosen)
    if compared.returncode == 1:
        names = [line.rsplit("/", 1)[1] for line in compared.stdout.splitlines() if line.startswith("diff ")]
        yield from (f"differs from the overlay: {name}" for name in names)


def main(overlay: str) -> int:
    faults = list(faults_of_the_server(overlay))
    found = kubectl("get", "-n", NAMESPACE, READ, "-o", "json")
    if found.returncode:
        sys.stdout.write(found.stderr)
        return 1
    resources = json.loads(found.stdout)["items"]
    rendered = kubectl("kustomize", str(OVERLAYS / overlay)).stdout
    faults += faults_of(resources, tuple(label for kind, label in OPERATED.items() if kind not in rendered))
    listed = kubectl("get", "namespaces", "-o", "json")
    if listed.returncode:
        sys.stdout.write("no permission to list namespaces: the roles of namespaces were not checked\n")
    else:
        policies = [it for it in resources if it["kind"] == "NetworkPolicy"]
        missing = roles_without_namespace(policies, json.loads(listed.stdout)["items"])
        faults += [f"no namespace has the label {ROLE}={role}: the network is closed to it" for role in sorted(missing)]
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(f"{len(resources)} resources of {NAMESPACE}, {len(faults)} faults\n")
    return 1 if faults else 0


if __name__ == "__main__":
    known = sorted(path.name for path in OVERLAYS.iterdir())
    if sys.argv[1:2] not in [[name] for name in known] or len(sys.argv) > 2:
        sys.exit(f"usage: make k8s-check ARGS={'|'.join(known)}")
    sys.exit(main(sys.argv[1]))
