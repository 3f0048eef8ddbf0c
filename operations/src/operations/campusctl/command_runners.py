"""Run the services' own commands: on the system's machine, or in the pods of a cluster."""

import base64
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from operations.campusctl.exits import NOT_REACHABLE, Refused
from operations.kubectl import Ended, Kubectl, KubectlFailed
from operations.services import service_named

COMMAND_SECONDS_MAX: Final = 600
CONTAINER: Final = "process"
"""The container of each Deployment in deploy/k8s."""


class CommandRunner(ABC):
    """Runs `python -m SERVICE COMMAND` with the environment of that service."""

    __slots__ = ()

    @abstractmethod
    def check(self) -> None:
        """Raise Refused unless a system is reachable here."""

    @abstractmethod
    def broker_administrator(self) -> str:
        """Return the address of the broker with an account that may publish to any queue. Raises Refused."""

    @abstractmethod
    def run(self, service_name: str, *arguments: str, stdin: str = "") -> Ended:
        """Run a command. `stdin`: what is no argument, as secrets are. Raises Refused: it could not be started."""

    def must(self, service_name: str, *arguments: str, stdin: str = "") -> str:
        """Run a command and return its output. Raises Refused with its last line when it fails."""
        ended = self.run(service_name, *arguments, stdin=stdin)
        if ended.exit_code != 0:
            words = (ended.complained or ended.output).splitlines() or [f"exit code {ended.exit_code}"]
            raise Refused(
                words[-1], f"Failed command: python -m {service_named(service_name).import_name} {arguments[0]}"
            )
        return ended.output


@dataclass(frozen=True, slots=True)
class ClusterCommands(CommandRunner):
    """Commands in the pods of the services' workers, which have the secrets of their service."""

    kubectl: Kubectl

    def check(self) -> None:
        self.kubectl.call("get", "deployments", "-o", "name")

    def broker_administrator(self) -> str:
        found = self.kubectl.get("secret", "broker-topology")
        if not found:
            raise Refused(
                f"The namespace {self.kubectl.namespace} has no Secret broker-topology.",
                "With a managed broker: pass its administrator to `start replay`, as in deploy/k8s/README.md",
            )
        return base64.b64decode(found["broker-topology"]["data"]["BROKER_URL"]).decode()

    def run(self, service_name: str, *arguments: str, stdin: str = "") -> Ended:
        target = f"deployment/{service_named(service_name).name}-worker"
        return self.kubectl.execute(
            target, "start", *arguments, container=CONTAINER, stdin=stdin, seconds_max=COMMAND_SECONDS_MAX
        )


def refused_by_kubectl(error: KubectlFailed) -> Refused:
    """Return the error of a command whose kubectl failed."""
    if error.is_unreachable:
        advice = "kubectl uses KUBECONFIG and the current context; choose another one with --context"
        return Refused(str(error), advice, NOT_REACHABLE)
    return Refused(str(error), _ADVICE.get(error.reason, ""))


_ADVICE: Final = {
    "Conflict": "The object was changed in the meantime, and this change was not made. See campusctl rotation status "
    "--kubernetes, then repeat the command",
    "Forbidden": "This account of the cluster lacks the permission, and this change was not made. Repeat the command "
    "with one that has it",
}
