"""The commands of `campusctl rotation` with --kubernetes: the same phases, with a store that writes the Secrets."""

from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from operations.campusctl.exits import Refused
from operations.campusctl.showing import Output
from operations.kubectl import Kubectl, KubectlFailed
from operations.rotation.cluster import ClusterRotation
from operations.rotation.cluster_processes import (
    deployments_with_secrets,
    fetch_external_secrets,
    outdated,
    restart,
)
from operations.rotation.measurements import Counted, Unmeasured, counted_in
from operations.rotation.secret_store import ENCRYPTING, RotationRefused, Secret
from operations.secrets import new_key

_NEXT: Final = "campusctl rotation roll --kubernetes"
_STATUS_COLUMNS: Final = ("secret", "open", "inUse", "in")
_PASSWORDS: Final = (
    "docs/runbooks/rotate-database-passwords.md, section On Kubernetes, names the properties of the store"
)


def status(kubectl: Kubectl) -> Output:
    """Return the previous values that are valid, and the Deployments whose pods hold other values than the Secrets."""
    lines = [line for rotation in ClusterRotation.read_all(kubectl) for line in rotation.open_values()]
    for deployment, variables in outdated(kubectl, deployments_with_secrets(kubectl)).items():
        line = {"secret": ", ".join(variables), "open": "older value", "inUse": True, "in": [deployment]}
        lines.append({**line, "sessions": {}})
    return Output(lines, _STATUS_COLUMNS)


def start(kubectl: Kubectl, secret: Secret, *, compromised: bool) -> NoReturn:
    rotation = _read(kubectl, secret)
    # The new value is written outside: only its name is shown.
    _changed(rotation, lambda: rotation.start(new_key(), compromised=compromised))


def switch(kubectl: Kubectl, secret: Secret) -> NoReturn:
    rotation = _read(kubectl, secret)
    _changed(rotation, rotation.switch, lambda: _must_be_current(kubectl))


def roll(kubectl: Kubectl, *, every: bool) -> Output:
    """Fetch the Secrets from the store, restart Deployments whose pods hold other values, and verify the new pods."""
    fetched = fetch_external_secrets(kubectl)
    deployments = deployments_with_secrets(kubectl)
    differing = outdated(kubectl, deployments)
    chosen = [it for it in deployments if every or it.name in differing]
    rolled: list[str] = []
    for deployment in chosen:
        try:
            restart(kubectl, deployment.name)
        except KubectlFailed as error:
            raise Refused(
                f"{deployment.name} was not restarted: {error}",
                "Its old pods still run, and old and new value stay valid. Restarted before: "
                f"{', '.join(rolled) or 'none'}. Read kubectl logs -n {kubectl.namespace} "
                f"deployment/{deployment.name}, then repeat {_NEXT}",
            ) from error
        rolled.append(deployment.name)
    if rolled:
        _must_be_current(kubectl)
    return Output({"fetched": fetched, "rolled": rolled})


def end(kubectl: Kubectl, secret: Secret, refuse_while_needed: Callable[[], None]) -> Output:
    """`refuse_while_needed` raises Refused while a stored value needs the old key."""
    rotation = _read(kubectl, secret)
    if secret in ENCRYPTING:
        refuse_while_needed()
    _must_be_current(kubectl)
    if rotation.open_values():
        _changed(rotation, rotation.end)
    return Output({"rotatedAt": rotation.record_end()})


def read_pods(kubectl: Kubectl) -> dict[str, Counted]:
    """Read the metrics of the project's pods, from within each. Raises Unmeasured: one returned none."""
    counted = {}
    for deployment in deployments_with_secrets(kubectl):
        for name in deployment.pods:
            ran = kubectl.execute(name, "python", "-I", "-c", _METRICS, container=deployment.container)
            if ran.exit_code != 0:
                raise Unmeasured(f"{name} returned no metrics: {ran.complained.splitlines()[-1:]}")
            counted[name] = counted_in(ran.output)
    return counted


# The gateway has its metrics on a port of their own.
_METRICS: Final = """
import os, urllib.request
port = os.environ.get("METRICS_PORT") or os.environ["PORT"]
print(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode())
"""


def _read(kubectl: Kubectl, secret: Secret) -> ClusterRotation:
    if secret is Secret.database:
        raise Refused("The passwords of a cluster's databases are set by its operators.", _PASSWORDS)
    try:
        return ClusterRotation.read(kubectl, secret)
    except RotationRefused as refusal:
        raise Refused(str(refusal)) from refusal


def _changed(
    rotation: ClusterRotation, change: Callable[[], Mapping[str, str]], check: Callable[[], None] = lambda: None
) -> NoReturn:
    """Raise Refused with what to change in the store. `check` raises Refused when it is too early."""
    try:
        changed = change()
    except RotationRefused as refusal:
        raise Refused(str(refusal)) from refusal
    check()
    raise Refused(rotation.change_in_store(changed), f"When the store has the values: {_NEXT}")


def _must_be_current(kubectl: Kubectl) -> None:
    """Raise Refused when a pod holds other values than the Secrets."""
    differing = outdated(kubectl, deployments_with_secrets(kubectl))
    if differing:
        held = "; ".join(f"{deployment}: {', '.join(variables)}" for deployment, variables in differing.items())
        raise Refused(f"Pods hold older values than the Secrets: {held}.", _NEXT)
