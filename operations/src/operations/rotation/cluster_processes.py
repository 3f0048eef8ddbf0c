"""The processes of a cluster: which hold older values than the Secrets, and their restart (decision 79)."""

import hmac
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from operations.kubectl import Kubectl, KubectlFailed
from operations.rotation.cluster import read_secrets

SYNC_SECONDS_MAX: Final = 300.0
ROLLOUT_SECONDS_MAX: Final = 900.0
OF_PROJECT: Final = {"app.kubernetes.io/part-of": "campus"}
"""The labels of its Deployments and pods."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A Deployment, its pods, and the Secrets whose values are its environment, in order of precedence."""

    name: str
    pods: tuple[str, ...]
    container: str
    secrets: tuple[str, ...]


def fetch_external_secrets(kubectl: Kubectl) -> list[str]:
    """Let External Secrets fetch every Secret from the store, wait for the end, and return their names.

    Raises KubectlFailed: one was not fetched within `SYNC_SECONDS_MAX`.
    """
    try:
        before = {it["metadata"]["name"]: _fetched_at(it) for it in kubectl.items("externalsecrets")}
    except KubectlFailed as error:
        if "doesn't have a resource type" in str(error):
            return []
        raise
    if not before:
        return []
    kubectl.call("annotate", "externalsecrets", "--all", f"force-sync={time.time_ns()}", "--overwrite")
    deadline = time.monotonic() + SYNC_SECONDS_MAX
    while True:
        waiting = {
            it["metadata"]["name"]: _reason(it)
            for it in kubectl.items("externalsecrets")
            if it["metadata"]["name"] in before
            and (_fetched_at(it) == before[it["metadata"]["name"]] or _reason(it) is not None)
        }
        if failed := {name: reason for name, reason in waiting.items() if reason}:
            details = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
            raise KubectlFailed(f"External Secrets could not fetch {details}")
        if not waiting:
            return sorted(before)
        if time.monotonic() > deadline:
            raise KubectlFailed(f"External Secrets did not fetch {', '.join(waiting)} within {SYNC_SECONDS_MAX:.0f} s")
        time.sleep(1)


def _fetched_at(external: Mapping[str, Any]) -> str | None:
    fetched: str | None = external.get("status", {}).get("refreshTime")
    return fetched


def _reason(external: Mapping[str, Any]) -> str | None:
    """Return the reason why the last fetch failed; None: it did not."""
    conditions = {it["type"]: it for it in external.get("status", {}).get("conditions", [])}
    ready = conditions.get("Ready", {})
    return str(ready.get("message") or "not ready") if ready.get("status") == "False" else None


def deployments_with_secrets(kubectl: Kubectl) -> list[Deployment]:
    """Return the Deployments of the project whose environment has a Secret, with their pods. Raises KubectlFailed."""
    pods = [it["metadata"] for it in kubectl.items("pods", OF_PROJECT) if "deletionTimestamp" not in it["metadata"]]
    return list(_deployments(kubectl.items("deployments", OF_PROJECT), pods))


def _deployments(items: Sequence[Mapping[str, Any]], pods: Sequence[Mapping[str, Any]]) -> Iterator[Deployment]:
    for it in items:
        container = it["spec"]["template"]["spec"]["containers"][0]
        named = tuple(source["secretRef"]["name"] for source in container.get("envFrom", []) if "secretRef" in source)
        if named:
            labels = it["spec"]["selector"]["matchLabels"].items()
            own = tuple(pod["name"] for pod in pods if labels <= pod["labels"].items())
            yield Deployment(it["metadata"]["name"], own, container["name"], named)


# Prints the digest of each variable under a key that is used once, so that no output repeats or reveals a value.
_DIGESTS: Final = """
import hmac, os, sys
for name in sys.argv[2:]:
    print(name, hmac.new(sys.argv[1].encode(), os.environ.get(name, "").encode(), "sha256").hexdigest())
"""


def outdated(kubectl: Kubectl, deployments: Sequence[Deployment]) -> dict[str, list[str]]:
    """Return the Deployments with a pod that holds other values than the Secrets have now, and the variables in
    question.

    A pod that cannot be examined counts as outdated. Raises KubectlFailed: the Secrets could not be read.
    """
    names = list(dict.fromkeys(name for deployment in deployments for name in deployment.secrets))
    known = read_secrets(kubectl, names) if names else {}
    found = {}
    for deployment in deployments:
        expected: dict[str, str] = {}
        for secret in (known[name] for name in deployment.secrets if name in known):
            expected |= secret.values
        differing = {
            variable for pod in deployment.pods for variable in _differing(kubectl, pod, deployment.container, expected)
        }
        if differing:
            found[deployment.name] = sorted(differing)
    return found


def _differing(kubectl: Kubectl, pod: str, container: str, expected: Mapping[str, str]) -> list[str]:
    key = secrets.token_hex(16)
    try:
        ran = kubectl.execute(pod, "python", "-I", "-c", _DIGESTS, key, *expected, container=container)
    except KubectlFailed as error:
        if error.reason == "Forbidden":
            raise
        return [f"{pod}: {error}"]
    held = dict(line.split() for line in ran.output.splitlines())
    digests = {name: hmac.new(key.encode(), text.encode(), "sha256").hexdigest() for name, text in expected.items()}
    return [name for name, digest in digests.items() if held.get(name) != digest]


def restart(kubectl: Kubectl, deployment: str) -> None:
    """Restart a Deployment's pods, and wait until the new ones are ready.

    Raises KubectlFailed: they are not; the old pods still run.
    """
    kubectl.call("rollout", "restart", f"deployment/{deployment}")
    kubectl.call(
        "rollout", "status", f"deployment/{deployment}", f"--timeout={ROLLOUT_SECONDS_MAX:.0f}s",
        seconds_max=ROLLOUT_SECONDS_MAX + 60,
    )  # fmt: skip
